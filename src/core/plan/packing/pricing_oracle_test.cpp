#include "plan/packing/pricing_oracle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "plan/channels/machine_for_test.hpp"
#include "plan/routes/channel_ways.hpp"
#include "plan/routes/limits.hpp"

namespace ringlet::plan {
namespace {

constexpr std::uint64_t kSeed = 20'251'122;

/// A machine, and different prices for all links.
struct Priced {
  Priced(std::string_view words, bool beyond_host)
      : machine(words),
        table(machine.paths()),
        nets(table, options),
        multi_node(beyond_host),
        cheapest(table, nets, beyond_host) {
    std::mt19937_64 random(kSeed);
    const auto draw = [&](std::size_t count) {
      std::vector<std::int64_t> list(count);
      for (std::int64_t& one : list) one = static_cast<std::int64_t>(random() % 1'000);
      return list;
    };
    prices = {draw(table.link_count()), draw(nets.port_count()), draw(nets.port_count())};
  }

  std::int64_t CostOf(Pattern pattern, const LocalChannel& channel) {
    std::int64_t cost = 0;
    ForEachRoute(pattern, channel, [&](EndIndex from, EndIndex to, bool half) {
      const Route& route = table.Find(from, to);
      for (std::uint32_t i = 0; i < route.count; ++i) {
        const RouteStep& step = table.Steps(route)[i];
        const Charge charge = ChargeOf(step, half ? kCostUnits / 2 : kCostUnits);
        cost += charge.forth * prices.links[step.link] + charge.back * prices.links[step.back];
      }
      return true;
    });
    if (channel.entry) cost += kCostUnits * prices.in[nets.PortOf(*channel.entry)];
    if (channel.exit) cost += kCostUnits * prices.out[nets.PortOf(*channel.exit)];
    return cost;
  }

  /// Tries all orders and NICs.
  std::int64_t Least(Pattern pattern, CrossNic crossing) {
    LocalChannel channel;
    channel.devices.resize(table.device_count());
    std::iota(channel.devices.begin(), channel.devices.end(), 0u);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    do {
      for (std::uint32_t in = 0; in < std::max(1u, multi_node ? table.net_count() : 1); ++in) {
        for (std::uint32_t out = 0; out < std::max(1u, multi_node ? table.net_count() : 1); ++out) {
          if (crossing == CrossNic::kSame && in != out) continue;
          if (multi_node) channel.entry = in, channel.exit = out;
          least = std::min(least, CostOf(pattern, channel));
        }
      }
    } while (std::next_permutation(channel.devices.begin(), channel.devices.end()));
    return least;
  }

  SearchOptions options;
  MachineForTest machine;
  RouteTable table;
  NicSelector nets;
  bool multi_node;
  PricingOracle cheapest;
  Prices prices;
};

constexpr std::string_view kWords =
    "(numa: (switch: 2 gpu, 1 nic 100g), (switch: 1 gpu)), (numa: (switch: 2 gpu, 1 nic 200g))";

void ExpectNoOrderIsCheaper(std::string_view words) {
  for (const bool multi_node : {false, true}) {
    for (const Pattern pattern : {Pattern::kRing, Pattern::kBalancedTree, Pattern::kTree}) {
      for (const CrossNic crossing : {CrossNic::kSame, CrossNic::kAny}) {
        if (pattern == Pattern::kTree && crossing == CrossNic::kAny) continue;
        Priced one(words, multi_node);
        const auto found = one.cheapest.Find(pattern, crossing, one.prices);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->cost, one.Least(pattern, crossing));
        EXPECT_EQ(found->cost, one.CostOf(pattern, found->channels.front()));
      }
    }
  }
}

TEST(PricingOracleTest, FindsTheCheapestOrder) {
  ExpectNoOrderIsCheaper(kWords);
}

/// Holds even if another NIC is much cheaper to enter by.
TEST(PricingOracleTest, AChainWithASingleHeadLeavesByItsEntryNic) {
  Priced one(kWords, true);
  one.prices.in = {0, 100'000};
  one.prices.out = {1'000'000, 0};
  const auto found = one.cheapest.Find(Pattern::kTree, CrossNic::kAny, one.prices);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channels.front().entry, found->channels.front().exit);
  EXPECT_EQ(found->cost, one.Least(Pattern::kTree, CrossNic::kSame));
}

/// Incoming data of a NIC also loads the opposite direction.
TEST(PricingOracleTest, IncludesTheCostOfAcknowledgements) {
  ExpectNoOrderIsCheaper("(switch: 3 gpu v100-sxm2 mesh, 1 nic 100g), (switch: 1 gpu, 1 nic 100g)");
}

/// High prices do not fit into 32 bits, so that the result may cost a little more than the minimum.
TEST(PricingOracleTest, RoundsLargePrices) {
  for (const bool multi_node : {false, true}) {
    for (const Pattern pattern : {Pattern::kRing, Pattern::kBalancedTree, Pattern::kTree}) {
      Priced one(kWords, multi_node);
      std::size_t i = 0;
      for (auto* list : {&one.prices.links, &one.prices.in, &one.prices.out})
        for (std::int64_t& price : *list)
          price = ++i % 7 == 0 ? kPriceMax : price * (std::int64_t{1} << 26);
      const auto found = one.cheapest.Find(pattern, CrossNic::kSame, one.prices);
      ASSERT_TRUE(found);
      const std::int64_t least = one.Least(pattern, CrossNic::kSame);
      EXPECT_LE(found->cost, least);
      EXPECT_GE(found->cost, least - least / 1'000'000);
      const std::int64_t cost = one.CostOf(pattern, found->channels.front());
      EXPECT_LE(cost, least + least / 1'000'000);
    }
  }
}

/// Callers with a budget depend on work().
TEST(PricingOracleTest, WorkIsCounted) {
  Priced five(kWords, false), three("(switch: 3 gpu)", false);
  for (Priced* one : {&five, &three})
    ASSERT_TRUE(one->cheapest.Find(Pattern::kTree, CrossNic::kSame, one->prices));
  EXPECT_GT(three.cheapest.work(), 0);
  EXPECT_GT(five.cheapest.work(), 4 * three.cheapest.work()) << "there are four times as many sets";
  const std::int64_t once = five.cheapest.work();
  ASSERT_TRUE(five.cheapest.Find(Pattern::kTree, CrossNic::kSame, five.prices));
  EXPECT_EQ(five.cheapest.work(), 2 * once);
}

/// All orders are too many to try. Orders near the result are not cheaper.
TEST(PricingOracleTest, FindsTheCheapestOrderOfManyDevices) {
  for (const std::string_view words :
       {"(switch: 6 gpu), (switch: 5 gpu)", "(numa: (switch: 7 gpu)), (numa: (switch: 6 gpu))",
        "17 gpu"}) {
    Priced one(words, false);
    ASSERT_TRUE(one.cheapest.usable());
    EXPECT_FALSE(one.cheapest.few());
    for (const Pattern pattern : {Pattern::kRing, Pattern::kTree}) {
      const auto found = one.cheapest.Find(pattern, CrossNic::kSame, one.prices);
      ASSERT_TRUE(found);
      std::vector<std::uint32_t> order = found->channels.front().devices;
      EXPECT_EQ(found->cost, one.CostOf(pattern, found->channels.front()));
      // Tries each exchange of two devices, and each reversal of a part.
      for (std::size_t a = 0; a < order.size(); ++a)
        for (std::size_t b = a + 1; b < order.size(); ++b) {
          LocalChannel other = found->channels.front();
          std::swap(other.devices[a], other.devices[b]);
          EXPECT_GE(one.CostOf(pattern, other), found->cost);
          other = found->channels.front();
          std::reverse(other.devices.begin() + static_cast<std::ptrdiff_t>(a),
                       other.devices.begin() + static_cast<std::ptrdiff_t>(b) + 1);
          EXPECT_GE(one.CostOf(pattern, other), found->cost);
        }
    }
  }
}

/// The cost is rarely more than a few percent above the minimum, and never below it.
TEST(PricingOracleTest, ANearChannelIsCloseToTheMinimum) {
  std::int64_t near_costs = 0, least_costs = 0;
  for (const std::string_view words :
       {kWords, std::string_view("(switch: 5 gpu, 1 nic 100g), (switch: 6 gpu, 1 nic 100g)")})
    for (const bool multi_node : {false, true})
      for (const Pattern pattern : {Pattern::kRing, Pattern::kBalancedTree, Pattern::kTree})
        for (const CrossNic crossing : {CrossNic::kSame, CrossNic::kAny}) {
          if (pattern == Pattern::kTree && crossing == CrossNic::kAny) continue;
          Priced one(words, multi_node);
          const auto near = one.cheapest.FindNear(pattern, crossing, one.prices);
          const auto least = one.cheapest.Find(pattern, crossing, one.prices);
          ASSERT_TRUE(near && least);
          const LocalChannel& channel = near->channels.front();
          EXPECT_EQ(near->cost, one.CostOf(pattern, channel));
          EXPECT_GE(near->cost, least->cost);
          EXPECT_EQ(channel.entry.has_value(), multi_node);
          EXPECT_TRUE(crossing == CrossNic::kAny || channel.entry == channel.exit);
          near_costs += near->cost;
          least_costs += least->cost;
        }
  EXPECT_LE(near_costs, least_costs + least_costs / 50);
}

TEST(PricingOracleTest, ManyDevicesGetNearChannels) {
  for (const std::uint32_t devices : {21u, 32u}) {
    Priced one(fmt::format("{} gpu", devices), false);
    EXPECT_TRUE(one.cheapest.usable());
    EXPECT_FALSE(one.cheapest.exact());
    const auto near = one.cheapest.FindNear(Pattern::kRing, CrossNic::kSame, one.prices);
    ASSERT_TRUE(near);
    EXPECT_EQ(near->channels.front().devices.size(), devices);
    EXPECT_EQ(near->cost, one.CostOf(Pattern::kRing, near->channels.front()));
  }
}

TEST(PricingOracleTest, RefusesTooManyDevices) {
  EXPECT_TRUE(Priced("10 gpu", false).cheapest.few());
  EXPECT_TRUE(Priced("20 gpu", false).cheapest.exact());
  EXPECT_FALSE(Priced("33 gpu", false).cheapest.usable());
  EXPECT_FALSE(Priced("1 gpu", false).cheapest.usable());
}

}  // namespace
}  // namespace ringlet::plan
