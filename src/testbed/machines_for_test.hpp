// Machines for the tests of the test bed.
#pragma once
#include "topology/xml/xml_reader.hpp"

namespace ringlet::testbed {

/// Two NUMA nodes: a switch with a GPU and a card of two ports; a GPU and an interface.
inline topology::HostView SmallMachine() {
  constexpr std::string_view kXml = R"(<system version="1">
  <cpu numaid="1" affinity="0000000c" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="1">
    <pci busid="0000:41:00.0" class="0x060400" vendor="0x1000" device="0xc010"
          link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:43:00.0" class="0x030200" vendor="0x10de" device="0x20b0"
          subsystem_vendor="0x10de" subsystem_device="0x134f"
          link_speed="16.0 GT/s PCIe" link_width="8">
        <gpu dev="0" sm="80"/>
      </pci>
      <pci busid="0000:45:00.0" class="0x020700" vendor="0x15b3" device="0x101b"
          link_speed="16.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="200000" port="1" guid="0xa262550003a1420c" gdr="1"/>
          <net name="mlx5_1" dev="1" speed="25500" port="2" guid="0xa262550003a1420c"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="0" affinity="00000003" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="1">
    <pci busid="0000:00:04.0" class="0x030200" vendor="0x10de" device="0x20b0"
          link_speed="8.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="80"/>
    </pci>
    <pci busid="0000:05:00.0" class="0x020000" vendor="0x8086" device="0x1592">
      <nic>
        <net name="eth7" dev="2" speed="100000" port="0"/>
      </nic>
    </pci>
  </cpu>
</system>)";
  return topology::ViewFromXml(kXml, "small.xml").value();
}

}  // namespace ringlet::testbed
