#include "plan/search/channel_search.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using topology::PathType;

struct Searched {
  StepOutcome outcome;
  PatternGraph best;
  std::string link;
};

Searched SearchFor(std::string_view words, bool multi_node, SearchStep search_step,
                   std::int64_t budget = 1000) {
  const MachineForTest machine(words);
  RouteTable table(machine.paths());
  SearchOptions options;
  options.multi_node = multi_node;
  NicSelector nets(table, options);
  ChannelSearch search(table, nets, options);
  Searched searched;
  searched.best.pattern = search_step.pattern;
  searched.outcome = search.Run(search_step, budget, searched.best);
  if (searched.outcome.link) searched.link = table.LinkText(*searched.outcome.link);
  return searched;
}

SearchStep RingOf(std::uint32_t mb_per_s, std::uint32_t channels) {
  SearchStep search_step;
  search_step.intra_mb_per_s = search_step.inter_mb_per_s = mb_per_s;
  search_step.type_intra = search_step.type_inter = PathType::kSys;
  search_step.max_channels = channels;
  return search_step;
}

TEST(ChannelSearchTest, PlacesAsManyRingsAsFit) {
  const Searched one = SearchFor("(switch: 3 gpu)", false, RingOf(20'000, 2));
  EXPECT_EQ(one.outcome.channels, 1u);
  EXPECT_FALSE(one.outcome.perfect);
  EXPECT_EQ(one.outcome.refusal, StepRefusal::kLink);
  EXPECT_NE(one.link.find("PCI"), std::string::npos);
  ASSERT_EQ(one.best.channels.size(), 1u);
  EXPECT_THAT(one.best.channels[0].devices, ElementsAre(0, 1, 2));
  const Searched two = SearchFor("(switch: 3 gpu)", false, RingOf(12'000, 2));
  EXPECT_TRUE(two.outcome.perfect);
  EXPECT_EQ(two.best.channels.size(), 2u);
}

TEST(ChannelSearchTest, ReportsAnExhaustedBudget) {
  EXPECT_TRUE(SearchFor("(switch: 8 gpu)", false, RingOf(20'000, 2), 5).outcome.budget_out);
}

TEST(ChannelSearchTest, ARingBeyondTheHostLeavesByItsEntryNic) {
  const Searched found = SearchFor("(switch: 2 gpu, 1 nic)", true, RingOf(10'000, 1));
  ASSERT_EQ(found.best.channels.size(), 1u);
  EXPECT_EQ(found.best.channels[0].entry, 0u);
  EXPECT_EQ(found.best.channels[0].exit, 0u);
  EXPECT_EQ(SearchFor("(switch: 2 gpu, 1 nic)", true, RingOf(26'000, 1)).outcome.refusal,
            StepRefusal::kNet);
}

/// NCCL's budgets count steps, including skipped ones. The numbers are those of a search without
/// skips.
TEST(ChannelSearchTest, CountsSkippedSteps) {
  const char* const words = "(numa: (switch: 3 gpu, 1 nic 200g), (switch: 2 gpu, 1 nic 100g))";
  SearchStep search_step = RingOf(7'000, 5);
  search_step.same_channels = false;
  search_step.cross_nic = 2;
  const Searched ring = SearchFor(words, true, search_step, 1'000'000);
  EXPECT_EQ(ring.outcome.steps, 142'661u);
  EXPECT_EQ(ring.outcome.channels, 3u);
  EXPECT_EQ(ring.best.hops, 80u);
  search_step.pattern = Pattern::kBalancedTree;
  const Searched tree = SearchFor(words, true, search_step, 1'000'000);
  EXPECT_EQ(tree.outcome.steps, 165'692u);
  EXPECT_EQ(tree.outcome.channels, 2u);
  EXPECT_EQ(tree.best.hops, 60u);
  EXPECT_TRUE(SearchFor(words, true, search_step, 100'000).outcome.budget_out);
}

/// Within a host, a channel begins in the order of the previous one, so that this order matters.
TEST(ChannelSearchTest, CountsSkippedStepsWithinTheHost) {
  const char* const words = "4 gpu v100-sxm2 mesh";
  SearchStep search_step = RingOf(24'000, 9);
  search_step.same_channels = false;
  const Searched ring = SearchFor(words, false, search_step, 1'000'000);
  EXPECT_EQ(ring.outcome.steps, 1'918u);
  EXPECT_EQ(ring.outcome.channels, 2u);
  EXPECT_EQ(ring.best.hops, 24u);
  search_step.pattern = Pattern::kTree;
  const Searched tree = SearchFor(words, false, search_step, 1'000'000);
  EXPECT_EQ(tree.outcome.steps, 16'468u);
  EXPECT_EQ(tree.outcome.channels, 4u);
  EXPECT_EQ(tree.best.hops, 36u);
}

/// Sums over searches with all budgets up to 400 steps: steps, maximum channels, kept channels,
/// budgets used up, hops; and the last link that refused.
std::string SumsOf(std::string_view words, const SearchStep& search_step) {
  std::uint64_t steps = 0, most = 0, kept = 0, out = 0, hops = 0;
  std::string link;
  for (std::int64_t budget = 1; budget <= 400; ++budget) {
    const Searched one = SearchFor(words, false, search_step, budget);
    steps += one.outcome.steps;
    most += one.outcome.channels;
    kept += one.best.channels.size();
    out += one.outcome.budget_out ? 1 : 0;
    hops += one.best.hops;
    link = one.link;
  }
  return fmt::format("{} {} {} {} {} {}", steps, most, kept, out, hops, link);
}

/// The numbers are those of a search that places each channel step by step.
TEST(ChannelSearchTest, ChannelsOfASingleOrderCountAllTheirSteps) {
  SearchStep search_step = RingOf(30'000, 32);
  EXPECT_EQ(SumsOf("8 gpu a100-sxm4 switch", search_step),
            "80200 2884 2884 400 92288 DEV/0-1000 > NVS/0-0 (NVL)");
  search_step.pattern = Pattern::kBalancedTree;
  search_step.min_channels = 3;
  search_step.max_channels = 4;
  EXPECT_EQ(SumsOf("8 gpu a100-sxm4 switch", search_step), "13770 1514 1487 35 41636 ");
  EXPECT_EQ(SumsOf("(numa: 2x(switch: 2 gpu))", RingOf(2'000, 32)),
            "80200 3735 3735 400 74700 DEV/0-3000 > PCI/0-1000 (PCI)");
  EXPECT_EQ(SumsOf("(switch: 3 gpu)", RingOf(9'000, 32)),
            "22230 790 790 60 9480 DEV/0-2000 > PCI/0-1000 (PCI)");
}

/// Runs several searches on one machine.
class Searching {
 public:
  explicit Searching(std::string_view words)
      : machine_(words), table_(machine_.paths()), nets_(table_, options_) {}

  StepOutcome Run(const SearchStep& search_step, PatternGraph& best) {
    best.pattern = search_step.pattern;
    return search_.Run(search_step, 100'000, best);
  }
  bool began_second() const { return search_.began_second(); }

 private:
  const SearchOptions options_ = {.multi_node = true};
  MachineForTest machine_;
  RouteTable table_;
  NicSelector nets_;
  ChannelSearch search_{table_, nets_, options_};
};

TEST(ChannelSearchTest, EqualOrdersCostTheSameStepsForASingleChannel) {
  Searching searching("(numa: (switch: 3 gpu, 1 nic 100g), (switch: 2 gpu))");
  SearchStep search_step = RingOf(10'000, 5);
  PatternGraph best;
  const StepOutcome same = searching.Run(search_step, best);
  EXPECT_FALSE(searching.began_second());
  search_step.same_channels = false;
  const StepOutcome own = searching.Run(search_step, best);
  EXPECT_FALSE(searching.began_second());
  EXPECT_EQ(same.steps, own.steps);
  EXPECT_EQ(same.channels, own.channels);
  EXPECT_FALSE(own.improved);
  search_step.intra_mb_per_s = search_step.inter_mb_per_s = 5'000;
  searching.Run(search_step, best);
  EXPECT_TRUE(searching.began_second());
}

TEST(ChannelSearchTest, FewerHopsWinAtEqualBandwidth) {
  Searching searching("(numa: (switch: 2 gpu, 1 nic), (switch: 2 gpu))");
  const SearchStep search_step = RingOf(5'000, 1);
  PatternGraph best;
  ASSERT_TRUE(searching.Run(search_step, best).improved);
  const std::uint32_t hops = best.hops;
  EXPECT_FALSE(searching.Run(search_step, best).improved) << "as many hops are no better";
  best.hops = hops + 1;
  EXPECT_TRUE(searching.Run(search_step, best).improved);
  EXPECT_EQ(best.hops, hops);
}

TEST(ChannelSearchTest, EachChannelEntersByANicWithFreeBandwidth) {
  Searching searching("(numa: (switch: 1 gpu, 1 nic 100g), (switch: 1 gpu, 1 nic 100g))");
  PatternGraph best;
  EXPECT_TRUE(searching.Run(RingOf(9'000, 2), best).perfect);
  ASSERT_EQ(best.channels.size(), 2u);
  EXPECT_EQ(best.channels[0].entry, 0u);
  EXPECT_THAT(best.channels[0].devices, ElementsAre(0, 1));
  EXPECT_EQ(best.channels[1].entry, 1u);
  EXPECT_EQ(best.channels[1].exit, 1u);
}

TEST(ChannelSearchTest, ChannelsTakeAndReturnTheBandwidthOfNics) {
  Searching searching("(switch: 2 gpu, 1 nic 200g)");
  for (int i = 0; i < 2; ++i) {
    PatternGraph best;
    const StepOutcome outcome = searching.Run(RingOf(9'000, 3), best);
    EXPECT_EQ(outcome.channels, 2u) << "of 25 GB/s 7 are left";
    EXPECT_EQ(outcome.refusal, StepRefusal::kNet);
    EXPECT_EQ(best.channels.size(), 2u);
  }
}

TEST(ChannelSearchTest, PathTypesLimitBothDirectionsOfTrees) {
  SearchStep search_step = RingOf(1'000, 1);
  search_step.pattern = Pattern::kBalancedTree;
  search_step.type_inter = PathType::kPix;
  const char* const words = "(numa: (switch: 1 gpu, 1 nic), (switch: 1 gpu))";
  EXPECT_EQ(SearchFor(words, true, search_step).outcome.channels, 0u)
      << "the second is farther away";
  search_step.type_inter = PathType::kPhb;
  EXPECT_EQ(SearchFor(words, true, search_step).outcome.channels, 1u);
}

TEST(ChannelSearchTest, PathTypesLimitRoutes) {
  SearchStep search_step = RingOf(1'000, 1);
  search_step.type_intra = PathType::kPix;
  EXPECT_EQ(
      SearchFor("(numa: (switch: 1 gpu), (switch: 1 gpu))", false, search_step).outcome.refusal,
      StepRefusal::kType);
}

}  // namespace
}  // namespace ringlet::plan
