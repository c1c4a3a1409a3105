// The network interfaces and RDMA ports of a machine, from /sys.
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
  bool down = false;  ///< according to operstate, which many virtual drivers do not set
  /// The nearest PCI function above. With virtio or USB in between, it is not a NIC itself.
  std::optional<topology::BusId> function = {};
  std::optional<std::uint32_t> numa = {};  ///< of the device; -1 is unknown
  bool tunnel = false;                     ///< encapsulates packets in others
  std::uint32_t device_port = 0;           ///< index among the interfaces of one function, from 0
  std::string master = {};                 ///< the bond or bridge that contains it
  std::vector<std::string> members = {};   ///< of a bond, bridge or VLAN
};

/// Returns all interfaces of /sys/class/net by name.
std::vector<InterfaceFacts> ReadInterfaces(Sysfs& sysfs);

/// Chooses the interfaces for traffic between hosts. Without a rule that lists names, these are
/// hardware interfaces with an active link, and a bond in place of its members. On a machine
/// without them, such as a container, these are active virtual interfaces except loopback, bridges,
/// tunnels, members of others, and the host's side of containers and virtual machines (docker*,
/// veth*, cali*, ...). Excluded interfaces change often, but all ranks of a host must see the same
/// host. A rule that lists names selects interfaces of any kind that are not down. `sysfs` records
/// interfaces that are down.
std::vector<InterfaceFacts> Choose(const std::vector<InterfaceFacts>& interfaces,
                                   const os::NameRule& rule, Sysfs& sysfs);

struct RdmaPort {
  std::string device;      ///< "mlx5_0"
  std::uint32_t port = 1;  ///< number on the device, from 1
  bool active = false;
  std::optional<std::uint32_t> speed_mbit_per_s = {};
  std::optional<std::uint64_t> guid = {};  ///< of the system image, equal on all ports of a card
  std::optional<topology::BusId> function = {};
  std::optional<std::uint32_t> numa = {};
  std::string interface = {};  ///< the kernel's interface on this port
};

/// Returns all ports of /sys/class/infiniband, by device ("mlx5_2" before "mlx5_10") and port;
/// empty if the folder is missing.
std::vector<RdmaPort> ReadRdmaPorts(Sysfs& sysfs);

/// Returns true if a driver lets RDMA devices access GPU memory.
/// Source  NCCL checks the same three files.
bool HasPeerMemory(const Sysfs& sysfs);

}  // namespace ringlet::discovery
