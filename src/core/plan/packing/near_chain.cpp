#include "plan/packing/near_chain.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ringlet::plan {
namespace {

using Order = std::vector<std::uint32_t>;

constexpr std::size_t kStarts = 4;

/// Starts with `first` and always continues with the nearest device.
Order GreedyChain(const ChainCosts& costs, std::uint32_t first) {
  Order order(costs.devices);
  std::iota(order.begin(), order.end(), 0u);
  std::swap(order[0], order[first]);
  for (std::size_t at = 1; at + 1 < order.size(); ++at) {
    const auto nearer = [&](std::uint32_t a, std::uint32_t b) {
      const std::int64_t to_a = costs.Between(order[at - 1], a);
      const std::int64_t to_b = costs.Between(order[at - 1], b);
      return to_a != to_b ? to_a < to_b : a < b;
    };
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(at);
    std::iter_swap(begin, std::min_element(begin, order.end(), nearer));
  }
  return order;
}

/// Takes parts out of a chain and inserts them at the cheapest place.
class Moves {
 public:
  Moves(const ChainCosts& costs, Order& order, std::int64_t& work)
      : costs_(costs), order_(order), work_(work) {}

  /// \return true if a move made the chain cheaper
  bool Improve() {
    bool moved = false;
    for (std::size_t size = 1; size < order_.size(); ++size)
      for (std::size_t begin = 0; begin + size <= order_.size(); ++begin)
        moved = MoveBest(begin, size) || moved;
    return moved;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// The cost from one place to the next. Places beyond the chain stand for its start and its end.
  std::int64_t CostBetween(std::size_t from, std::size_t to) const {
    if (from == kNone) return to == order_.size() ? 0 : costs_.head[order_[to]];
    if (to == order_.size()) return costs_.tail[order_[from]];
    return costs_.Between(order_[from], order_[to]);
  }
  /// The extra cost of the routes within a part if it is reversed.
  std::int64_t TurnOf(std::size_t begin, std::size_t size) const {
    std::int64_t more = 0;
    for (std::size_t at = begin; at + 1 < begin + size; ++at)
      more += CostBetween(at + 1, at) - CostBetween(at, at + 1);
    return more;
  }

  bool MoveBest(std::size_t begin, std::size_t size) {
    const std::size_t last = begin + size - 1;
    const std::size_t before = begin == 0 ? kNone : begin - 1;
    const std::int64_t turn = TurnOf(begin, size);
    const std::int64_t out =
        CostBetween(before, begin) + CostBetween(last, last + 1) - CostBetween(before, last + 1);
    std::int64_t best = 0;
    std::size_t best_to = kNone;
    bool best_turned = false;
    const auto look = [&](std::size_t to, std::int64_t gain, bool turned) {
      if (gain <= best) return;
      best = gain;
      best_to = to;
      best_turned = turned;
    };
    // Tries the gap before each place outside the part.
    for (std::size_t to = 0; to <= order_.size(); ++to) {
      if (to > begin && to <= last + 1) continue;
      const bool here = to == begin;
      const std::size_t from = here ? before : to == 0 ? kNone : to - 1;
      const std::size_t next = here ? last + 1 : to;
      const std::int64_t gap = out + CostBetween(from, next);
      if (!here) look(to, gap - CostBetween(from, begin) - CostBetween(last, next), false);
      look(to, gap - CostBetween(from, last) - CostBetween(begin, next) - turn, true);
    }
    work_ += static_cast<std::int64_t>(order_.size() + size);
    if (best_to == kNone) return false;
    Move(begin, size, best_to, best_turned);
    return true;
  }

  void Move(std::size_t begin, std::size_t size, std::size_t to, bool turned) {
    const auto at = [&](std::size_t place) {
      return order_.begin() + static_cast<std::ptrdiff_t>(place);
    };
    if (turned) std::reverse(at(begin), at(begin + size));
    if (to < begin) std::rotate(at(to), at(begin), at(begin + size));
    if (to > begin + size) std::rotate(at(begin), at(begin + size), at(to));
  }

  const ChainCosts& costs_;
  Order& order_;
  std::int64_t& work_;
};

}  // namespace

std::int64_t ChainCosts::Of(const std::vector<std::uint32_t>& order) const {
  std::int64_t cost = std::int64_t{head[order.front()]} + tail[order.back()];
  for (std::size_t at = 0; at + 1 < order.size(); ++at) cost += Between(order[at], order[at + 1]);
  return cost;
}

std::vector<std::uint32_t> NearChain(const ChainCosts& costs, std::int64_t& work) {
  std::vector<std::pair<std::int64_t, Order>> starts;
  for (std::uint32_t first = 0; first < costs.devices; ++first) {
    Order order = GreedyChain(costs, first);
    const std::int64_t cost = costs.Of(order);
    starts.emplace_back(cost, std::move(order));
  }
  work += std::int64_t{costs.devices} * costs.devices * costs.devices / 2;
  std::sort(starts.begin(), starts.end());
  starts.resize(std::min(starts.size(), kStarts));
  for (auto& [cost, order] : starts) {
    while (Moves(costs, order, work).Improve()) continue;
    cost = costs.Of(order);
  }
  return std::min_element(starts.begin(), starts.end())->second;
}

}  // namespace ringlet::plan
