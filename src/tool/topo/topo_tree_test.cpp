#include "tool/topo/topo_tree.hpp"

#include <gtest/gtest.h>

#include "topo/edit/machines_for_test.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

TEST(TopoTreeTest, ShowsEveryPartWithItsBandwidth) {
  EXPECT_EQ(
      TreeText(topology::ParseSynthetic("2x(numa: (switch: gpu a100-sxm4 switch, nic))").value()),
      R"(host, x86_64, GenuineIntel family 6 model 143
  NUMA node 0, CPUs 0-15
    switch 0000:01:00.0, PCIe 4.0 x16, 24 GB/s
      GPU 0000:02:00.0, a100-sxm4, PCIe 4.0 x16, 24 GB/s
        device 0, rank 0, compute capability 8.0, GPUDirect RDMA
          12 NVLink links to NVSwitch (not visible), 240 GB/s
      NIC 0000:03:00.0, PCIe 4.0 x16, 24 GB/s
        net nic0, 200000 Mbit/s, 25 GB/s, device 0, port 1, GPUDirect RDMA
  NUMA node 1, CPUs 16-31
    switch 0000:04:00.0, PCIe 4.0 x16, 24 GB/s
      GPU 0000:05:00.0, a100-sxm4, PCIe 4.0 x16, 24 GB/s
        device 1, rank 1, compute capability 8.0, GPUDirect RDMA
          12 NVLink links to NVSwitch (not visible), 240 GB/s
      NIC 0000:06:00.0, PCIe 4.0 x16, 24 GB/s
        net nic1, 200000 Mbit/s, 25 GB/s, device 1, port 1, GPUDirect RDMA
  from NUMA node 0 to the other, 22 GB/s
  from NUMA node 1 to the other, 22 GB/s
)");
}

TEST(TopoTreeTest, C2cLinksStandBelowTheirGpu) {
  topology::MachineForTest machine;
  machine.view.cpu = {"arm64", "", 0, 0, ""};
  machine.Numa(0).Gpu(1, 90).C2c(44'712, 10);
  EXPECT_EQ(TreeText(machine.view), R"(host host, arm64
  NUMA node 0, CPUs 0-7
    GPU 0000:01:00.0, PCIe 5.0 x16, 48 GB/s
      device 0, rank 0, compute capability 9.0, GPUDirect RDMA
        10 C2C links to the processor, 447.12 GB/s
)");
}

TEST(TopoTreeTest, DescribesANetworkPort) {
  topology::HostView view;
  view.name = "box";
  view.numa_nodes.emplace_back().id = 3;
  topology::NetInterface net;
  net.name = "bond0";
  net.rdma_device = "mlx5_0";
  net.speed_mbit_per_s = 100'000;
  net.port = 2;
  net.gdr = false;
  net.collective = true;
  net.rail = 4;
  net.plane = 5;
  net.members = {"eth0", "eth1", "eth2"};
  view.nets.push_back(net);
  net = {};
  net.name = net.rdma_device = "ib0";
  net.port = 0;
  view.nets.push_back(net);
  EXPECT_EQ(TreeText(view), R"(host box
  NUMA node 3
    net bond0 (mlx5_0), 100000 Mbit/s, 12.5 GB/s, port 2, )"
                            R"(in-network collectives, rail 4, plane 5, of eth0 and eth1 and eth2
    net ib0, unknown speed
)");
}

TEST(TopoTreeTest, DescribesProcessorsAndHosts) {
  topology::HostView view;
  view.cpu = {"x86_64", "AuthenticAMD", 25, 1, "EPYC"};
  auto& first = view.numa_nodes.emplace_back();
  first.id = 0;
  first.memory_bytes = (std::uint64_t{3} << 30) + (1u << 29);
  first.cpu = topology::CpuModel{"", "GenuineIntel", 6, 85, ""};
  auto& second = view.numa_nodes.emplace_back();
  second.id = 1;
  second.host = 0x1234;
  EXPECT_EQ(TreeText(view), R"(host, x86_64, EPYC
  NUMA node 0, 4 GiB, GenuineIntel family 6 model 85
  NUMA node 1, of host 0x0000000000001234
)");
}

TEST(TopoTreeTest, MarksUnknownFacts) {
  topology::HostView view;
  view.name = "box";
  view.numa_nodes.emplace_back().id = topology::kUnknownNuma;
  view.pci.push_back({.parent = {topology::PartKind::kNuma, 0}, .bus = {}});
  view.gpus.push_back({.pci = 0, .gcn = ""});
  view.nets.push_back({"eth\n0", std::nullopt, std::nullopt});
  EXPECT_EQ(TreeText(view), R"(host box
  NUMA node of unknown number
    function 0000:00:00.0, PCIe link of unknown speed
      device of unknown number
    net eth\n0, unknown speed
)");
}

TEST(TopoTreeTest, PrintsSpeedsBriefly) {
  EXPECT_EQ(SpeedText(250), "250 MB/s");
  EXPECT_EQ(SpeedText(1000), "1 GB/s");
  EXPECT_EQ(SpeedText(12'500), "12.5 GB/s");
  EXPECT_EQ(SpeedText(370'800), "370.8 GB/s");
}

}  // namespace
}  // namespace ringlet::cli
