#include "collective/layout/call_cost.hpp"

#include <algorithm>
#include <bit>

namespace ringlet::collective {

CallCost::CallCost(const Call& one_call, const Layout& ranks_layout, const CostModel& cost_model)
    : call(one_call),
      layout(ranks_layout),
      model(cost_model),
      bytes(std::min<std::uint64_t>(BlockBytes(call), std::uint64_t{1} << 40)),
      ranks(layout.order.size()),
      hosts(layout.groups.empty() ? 1 : layout.groups.size()),
      mates(layout.groups.empty() ? ranks : LargestOf(layout.groups)) {}

std::uint64_t CallCost::Round(std::uint64_t distance, std::uint64_t amount) const {
  if (Crosses(distance)) return Together(mates, mates * amount);
  return Hop(model.local) + Moving(model.local, amount);
}

std::uint64_t CallCost::Together(std::uint64_t senders, std::uint64_t amount) const {
  return Hop(model.remote) + (senders - 1) * (model.remote.overhead_ns / 5) +
         Moving(model.remote, amount);
}

std::uint64_t CallCost::ToEach() const {
  const std::uint64_t near = Burst(model.local, mates - 1, (mates - 1) * bytes);
  const std::uint64_t far = Burst(model.remote, ranks - mates, (ranks - mates) * bytes * mates);
  return near + far;
}

std::uint64_t CallCost::Rounds(std::uint64_t n) {
  return static_cast<std::uint64_t>(std::bit_width(n - 1));
}

}  // namespace ringlet::collective
