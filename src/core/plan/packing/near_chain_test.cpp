#include "plan/packing/near_chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace ringlet::plan {
namespace {

constexpr std::uint64_t kChainSeed = 20'261'124;

std::vector<std::uint32_t> FirstOrder(std::uint32_t devices) {
  std::vector<std::uint32_t> order(devices);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

ChainCosts Drawn(std::uint32_t devices, std::mt19937_64& random) {
  ChainCosts costs;
  costs.devices = devices;
  const auto draw = [&] { return static_cast<ChainCosts::Cost>(random() % 1'000); };
  for (std::uint32_t device = 0; device < devices; ++device) {
    costs.head.push_back(draw());
    costs.tail.push_back(draw());
  }
  for (std::uint32_t i = 0; i < devices * devices; ++i) costs.between.push_back(draw());
  return costs;
}

std::int64_t Least(const ChainCosts& costs) {
  std::vector<std::uint32_t> order = FirstOrder(costs.devices);
  std::int64_t least = costs.Of(order);
  while (std::next_permutation(order.begin(), order.end()))
    least = std::min(least, costs.Of(order));
  return least;
}

TEST(NearChainTest, CostsRarelyExceedTheMinimum) {
  std::mt19937_64 random(kChainSeed);
  std::int64_t work = 0;
  int least = 0;
  for (int draw = 0; draw < 100; ++draw) {
    const ChainCosts costs = Drawn(1 + static_cast<std::uint32_t>(draw) % 8, random);
    std::vector<std::uint32_t> order = NearChain(costs, work);
    EXPECT_GE(costs.Of(order), Least(costs));
    if (costs.Of(order) == Least(costs)) ++least;
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, FirstOrder(costs.devices)) << "seed " << kChainSeed << " draw " << draw;
  }
  EXPECT_GE(least, 90) << "seed " << kChainSeed;
}

TEST(NearChainTest, NoSegmentMoveIsCheaper) {
  std::mt19937_64 random(kChainSeed);
  std::int64_t work = 0;
  const ChainCosts costs = Drawn(24, random);
  const std::vector<std::uint32_t> order = NearChain(costs, work);
  for (std::ptrdiff_t begin = 0; begin < 24; ++begin)
    for (std::ptrdiff_t end = begin + 1; end <= 24; ++end)
      for (std::ptrdiff_t to = end; to <= 24; ++to)
        for (const bool turned : {false, true}) {
          std::vector<std::uint32_t> other = order;
          if (turned) std::reverse(other.begin() + begin, other.begin() + end);
          std::rotate(other.begin() + begin, other.begin() + end, other.begin() + to);
          EXPECT_GE(costs.Of(other), costs.Of(order)) << begin << " " << end << " " << to;
        }
}

TEST(NearChainTest, AvoidsMissingConnections) {
  ChainCosts costs;
  costs.devices = 4;
  costs.head.assign(4, 0);
  costs.tail.assign(4, 0);
  costs.between.assign(16, ChainCosts::kFar);
  for (const auto& [from, to] : {std::pair(2, 0), std::pair(0, 3), std::pair(3, 1)})
    costs.between[static_cast<std::size_t>(to * 4 + from)] = 5;
  std::int64_t work = 0;
  EXPECT_EQ(NearChain(costs, work), (std::vector<std::uint32_t>{2, 0, 3, 1}));
  EXPECT_GT(work, 0);
}

}  // namespace
}  // namespace ringlet::plan
