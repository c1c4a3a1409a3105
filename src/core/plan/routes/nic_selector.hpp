// Selects the NICs that a channel may use, in order: a device's preferred NICs, then by distance.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/routes/route_table.hpp"
#include "plan/routes/search_options.hpp"

namespace ringlet::plan {

class NicSelector {
 public:
  NicSelector(const RouteTable& table, const SearchOptions& options);

  /// NICs where a channel may leave a device, over paths of at most `farthest`. The device's
  /// preferred NICs are first, at any distance.
  const std::vector<std::uint32_t>& Of(std::uint32_t device, topology::PathType farthest);
  /// NICs where channels may enter.
  const std::vector<std::uint32_t>& OfAll(topology::PathType farthest);

  /// The devices near a NIC. A device that prefers the NIC is first.
  const std::vector<std::uint32_t>& DevicesNear(std::uint32_t net) {
    FindNear();
    return near_[net];
  }
  /// Returns true if the first device of DevicesNear() prefers the NIC.
  bool Preferred(std::uint32_t net) {
    FindNear();
    return preferred_[net];
  }

  /// The NIC that a device prefers for the first channel.
  std::optional<std::uint32_t> PreferredBy(std::uint32_t device) {
    FindPreferences();
    if (preferences_[device].empty()) return std::nullopt;
    return preferences_[device].front();
  }

  /// A number of the port. NICs with equal numbers share its bandwidth.
  std::uint32_t PortOf(std::uint32_t net) const { return port_[net]; }
  std::uint32_t port_count() const { return port_count_; }

 private:
  void FindPreferences();
  void FindNear();
  void FindPorts();
  std::vector<std::uint32_t> Build(std::optional<std::uint32_t> device,
                                   topology::PathType farthest) const;
  void Append(std::vector<std::uint32_t>& list, std::vector<bool>& seen, std::uint32_t net) const;

  const RouteTable& table_;
  const SearchOptions& options_;
  bool many_hosts_ = false;
  // Computed on first use. Channels that stay on the host do not need them.
  std::vector<std::vector<std::uint32_t>> preferences_;  // by device
  std::vector<topology::PathType> types_;                // [device][net]
  std::vector<std::vector<std::uint32_t>> near_;
  std::vector<bool> preferred_;
  std::vector<std::uint32_t> port_;
  std::uint32_t port_count_ = 0;
  /// By path type, then by device. The last entry of each list is for all devices.
  std::array<std::vector<std::optional<std::vector<std::uint32_t>>>, 12> lists_;
};

}  // namespace ringlet::plan
