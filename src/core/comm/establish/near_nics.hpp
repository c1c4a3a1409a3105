// By which of its host's NICs a rank is best reached: pure, from what the host has.
#pragma once
#include <cstdint>
#include <vector>

#include "base/value/address.hpp"
#include "os/net/interface_filter.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {

struct NicChoice {
  std::vector<Address> addresses;  ///< all of them
  /// The first so many are as good as each other and better than the rest; 0: unknown.
  std::size_t preferred = 0;
};

/// Of the NICs with addresses the fastest, and of these the ones at the rank's NUMA node, where
/// there are any. If the speed of one is not known, as in many virtual machines, nothing is
/// preferred.
///
/// \param usable  best first; that order remains among equals
/// \param numa    id of the node that the rank lives at
///
/// Source  NCCL takes the NIC that is nearest to the GPU; between memory and NICs the speeds of a
///         host's NICs differ more (management network, InfiniBand) than the ways to them
NicChoice NearNics(const std::vector<os::UsableAddress>& usable, const topology::HostView& view,
                   std::uint32_t numa);

}  // namespace ringlet::comm
