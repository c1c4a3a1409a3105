// Selects the NICs for the best connections to a rank. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "base/value/address.hpp"
#include "os/net/interface_filter.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {

struct NicChoice {
  std::vector<Address> addresses;  ///< all of them
  /// Number of leading addresses that are equally good and better than the rest. 0: unknown.
  std::size_t preferred = 0;
};

/// Prefers the fastest NICs with addresses, and among these the ones at the rank's NUMA node, if
/// any. If one speed is unknown, as in many virtual machines, no NIC is preferred.
///
/// \param usable  best first; that order remains among equals
/// \param numa    id of the rank's node
///
/// Source  NCCL prefers the NIC nearest to the GPU. Between memory and NICs, the speeds of a host's
/// NICs (management network, InfiniBand) differ more than the paths to them
NicChoice NearNics(const std::vector<os::UsableAddress>& usable, const topology::HostView& view,
                   std::uint32_t numa);

}  // namespace ringlet::comm
