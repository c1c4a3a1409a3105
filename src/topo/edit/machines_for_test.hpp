// Machines for several tests, as views.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Grows a view part by part.
class MachineForTest {
 public:
  explicit MachineForTest(std::uint64_t identity = 1, std::string name = "host") {
    view.name = std::move(name);
    view.identity = identity;
    view.cpu = {"x86_64", "GenuineIntel", 6, 0x8f, ""};
  }

  MachineForTest& Numa(std::uint32_t id) {
    view.numa_nodes.push_back({id, CpuSet::Of(id * 8, id * 8 + 7), 0, {}});
    below_ = {PartKind::kNuma, static_cast<std::uint32_t>(view.numa_nodes.size() - 1)};
    return *this;
  }
  /// A switch below the latest NUMA node, until Up().
  MachineForTest& Switch(std::uint8_t bus, PciIds ids = {}) {
    AddPci(bus, 0x060400);
    view.pci.back().ids = ids;
    below_ = {PartKind::kPci, Last()};
    return *this;
  }
  MachineForTest& Up() {
    below_ = view.pci[below_.index].parent;
    return *this;
  }
  MachineForTest& Gpu(std::uint8_t bus, std::uint32_t capability) {
    AddPci(bus, 0x030200);
    topology::Gpu gpu;
    gpu.pci = Last();
    gpu.dev = static_cast<std::uint32_t>(view.gpus.size());
    gpu.rank = gpu.dev;
    gpu.compute_capability = capability;
    gpu.gdr = true;
    view.gpus.push_back(std::move(gpu));
    return *this;
  }
  MachineForTest& Nic(std::uint8_t bus, std::uint32_t speed_mbit_per_s) {
    AddPci(bus, 0x020700);
    view.nics.push_back({{PartKind::kPci, Last()}});
    return Net(speed_mbit_per_s);
  }
  /// Adds a NIC without a PCI function.
  MachineForTest& NicOnNuma(std::uint32_t speed_mbit_per_s) {
    view.nics.push_back({below_});
    return Net(speed_mbit_per_s);
  }
  /// NVLinks of the latest GPU to the GPU at `bus`.
  MachineForTest& NvLink(std::uint8_t bus, std::uint32_t count) {
    view.gpus.back().links.push_back(
        {GpuLinkKind::kNvLink, BusId::Of(0, bus, 0, 0), count, PciClass{0x030200}});
    return *this;
  }
  MachineForTest& NvSwitch(std::uint32_t count) {
    view.gpus.back().links.push_back({GpuLinkKind::kNvLink, {}, count, PciClass{0x068000}});
    return *this;
  }
  MachineForTest& C2c(std::uint32_t mb_per_s, std::uint32_t count) {
    view.gpus.back().c2c.push_back({mb_per_s, count});
    return *this;
  }

  HostView view;

 private:
  std::uint32_t Last() const { return static_cast<std::uint32_t>(view.pci.size() - 1); }
  void AddPci(std::uint8_t bus, std::uint32_t code) {
    PciDevice device;
    device.parent = below_;
    device.bus = BusId::Of(0, bus, 0, 0);
    device.device_class = PciClass{code};
    device.link_speed = PcieSpeed::Of(5);
    device.link_width = 16;
    view.pci.push_back(std::move(device));
  }
  MachineForTest& Net(std::uint32_t speed_mbit_per_s) {
    NetInterface net;
    net.name = "mlx5_" + std::to_string(view.nets.size());
    net.speed_mbit_per_s = speed_mbit_per_s;
    net.nic = static_cast<std::uint32_t>(view.nics.size() - 1);
    net.dev = static_cast<std::uint32_t>(view.nets.size());
    net.gdr = true;
    view.nets.push_back(std::move(net));
    return *this;
  }

  Part below_;
};

/// Hosts of 4 GPUs, 4 NICs and 2 Arm processors, in one NVLink domain. A GB200 rack has 18.
inline std::vector<HostView> RackForTest(std::uint32_t hosts) {
  std::vector<HostView> views;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    MachineForTest machine(host + 1, "node" + std::to_string(host));
    machine.view.cpu = {"arm64", "", 0, 0, ""};
    for (std::uint8_t i = 0; i < 4; ++i) {
      if (i % 2 == 0) machine.Numa(i / 2);
      const auto bus = static_cast<std::uint8_t>(0x10 * i + 1);
      machine.Gpu(bus, 100).NvSwitch(18).C2c(44'712, 10);
      machine.view.gpus.back().rank = host * 4 + i;
      machine.view.gpus.back().fabric = NvlinkFabric{{1, 2}, 3};
      machine.Nic(static_cast<std::uint8_t>(bus + 2), 400'000);
    }
    views.push_back(std::move(machine.view));
  }
  return views;
}

}  // namespace ringlet::topology
