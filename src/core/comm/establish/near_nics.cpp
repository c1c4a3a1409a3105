#include "comm/establish/near_nics.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace ringlet::comm {
namespace {

struct NicSpeed {
  std::string_view name;
  std::uint32_t speed_mbit_per_s = 0;
  bool near = false;  // at the rank's NUMA node
};

// Returns the NICs with addresses. Empty if a NIC or its speed is unknown.
std::vector<NicSpeed> Known(const std::vector<os::UsableAddress>& usable,
                            const topology::HostView& view, std::uint32_t numa) {
  std::vector<NicSpeed> nics;
  for (const os::UsableAddress& one : usable) {
    const auto net = std::ranges::find(view.nets, one.interface, &topology::NetInterface::name);
    if (net == view.nets.end() || net->speed_mbit_per_s.value_or(0) == 0) return {};
    const auto index = static_cast<std::uint32_t>(net - view.nets.begin());
    const auto node = view.NumaIndexOf({topology::PartKind::kNet, index});
    nics.push_back({net->name, *net->speed_mbit_per_s, node && view.numa_nodes[*node].id == numa});
  }
  return nics;
}

}  // namespace

NicChoice NearNics(const std::vector<os::UsableAddress>& usable, const topology::HostView& view,
                   std::uint32_t numa) {
  std::vector<NicSpeed> nics = Known(usable, view, numa);
  if (!nics.empty()) {
    const std::uint32_t best =
        std::ranges::max(nics, {}, &NicSpeed::speed_mbit_per_s).speed_mbit_per_s;
    std::erase_if(nics, [&](const NicSpeed& nic) { return nic.speed_mbit_per_s < best; });
    if (std::ranges::any_of(nics, &NicSpeed::near))
      std::erase_if(nics, std::not_fn(&NicSpeed::near));
  }
  const auto is_best = [&](const os::UsableAddress& one) {
    return std::ranges::find(nics, one.interface, &NicSpeed::name) != nics.end();
  };
  std::vector<os::UsableAddress> sorted = usable;
  const auto rest = std::ranges::stable_partition(sorted, is_best);
  NicChoice choice{.addresses = {},
                   .preferred = static_cast<std::size_t>(rest.begin() - sorted.begin())};
  for (const os::UsableAddress& one : sorted) choice.addresses.push_back(one.address);
  return choice;
}

}  // namespace ringlet::comm
