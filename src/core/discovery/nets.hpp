// The network interfaces and RDMA ports of a machine, as /sys has them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery/sysfs.hpp"
#include "os/net/interface_filter.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

struct InterfaceFacts {
  std::string name;
  topology::NetKind kind = topology::NetKind::kUnknown;
  std::optional<std::uint32_t> speed_mbit_per_s = {};
  bool down = false;  ///< as its operstate says; many virtual drivers say nothing
  /// The nearest PCI function above; not itself a NIC where virtio or USB lie between.
  std::optional<topology::BusId> function = {};
  std::optional<std::uint32_t> numa = {};  ///< of the device; -1 is unknown
  bool tunnel = false;                     ///< it carries packets within others
  std::uint32_t device_port = 0;           ///< of those at one function, counted from 0
  std::string master = {};                 ///< the bond or bridge that it is part of
  std::vector<std::string> members = {};   ///< the parts of a bond, bridge or VLAN
};

/// All of /sys/class/net by name.
std::vector<InterfaceFacts> ReadInterfaces(Sysfs& sysfs);

/// Those that a program would use between hosts. Without a rule that picks names: hardware whose
/// link is up, with a bond in place of its members; where there is none, as in a container, virtual
/// ones that are up, but not loopback, bridges, tunnels, members of others, and the host's side of
/// containers and virtual machines (docker*, veth*, cali*, ...): those come and go, and ranks of
/// one host shall see one host. A rule that picks names gets what it names, of any kind, unless it
/// is down. Interfaces that are down are remembered in `sysfs`.
std::vector<InterfaceFacts> Choose(const std::vector<InterfaceFacts>& interfaces,
                                   const os::NameRule& rule, Sysfs& sysfs);

struct RdmaPort {
  std::string device;      ///< "mlx5_0"
  std::uint32_t port = 1;  ///< of the device, counted from 1
  bool active = false;
  std::optional<std::uint32_t> speed_mbit_per_s = {};
  std::optional<std::uint64_t> guid = {};  ///< of the system image: one for all ports of a card
  std::optional<topology::BusId> function = {};
  std::optional<std::uint32_t> numa = {};
  std::string interface = {};  ///< that the kernel runs over the same port
};

/// All of /sys/class/infiniband, by device ("mlx5_2" before "mlx5_10") and port; a machine without
/// that folder has none.
std::vector<RdmaPort> ReadRdmaPorts(Sysfs& sysfs);

/// Whether a driver lets RDMA devices reach the memory of GPUs.
/// Source  NCCL looks for the same three files.
bool HasPeerMemory(const Sysfs& sysfs);

}  // namespace ringlet::discovery
