#include "tool/sim/sim_trace.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using std::chrono::microseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

TEST(SimTraceTest, ShowsAllOfAFewRanks) {
  EXPECT_THAT(RanksToTrace(3, {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(RanksToTrace(40, {}), SizeIs(40));
}

TEST(SimTraceTest, ShowsASampleOfManyRanks) {
  const auto ranks = RanksToTrace(1'000'000, {77'777});
  EXPECT_LT(ranks.size(), 100u);
  for (const std::uint32_t rank : {0u, 1u, 15u, 77'777u, 500'000u, 999'999u})
    EXPECT_THAT(ranks, Contains(rank));
  EXPECT_TRUE(std::ranges::is_sorted(ranks));
}

TEST(SimTraceTest, EveryPhaseIsASpanOfItsRank) {
  const auto json = nlohmann::json::parse(
      ChromeTrace({.checked_in = microseconds(5), .roster_first = microseconds(6)},
                  {{.rank = 9,
                    .host = 2,
                    .start = microseconds(1),
                    .roster = microseconds(4),
                    .standing = microseconds(7)},
                   {.rank = 10,
                    .host = 2,
                    .start = microseconds(1),
                    .failed = microseconds(8),
                    .failure = "\xff lost"}}));
  std::vector<std::string> seen;
  for (const auto& event : json.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "i") {
      EXPECT_EQ(event.at("ts"), 8);
    }
    if (phase != "X") continue;
    const int rank = event.at("tid");
    EXPECT_EQ(event.at("pid"), rank == 0 ? 0 : 3);
    seen.push_back(fmt::format("{} of {}: {}+{}", event.at("name").get<std::string>(), rank,
                               event.at("ts").get<double>(), event.at("dur").get<double>()));
  }
  EXPECT_THAT(seen, ElementsAre("check-in of 0: 0+5", "roster to the first rank of 0: 5+1",
                                "checking in of 9: 1+3", "connecting of 9: 4+3",
                                "until it failed of 10: 1+7"));
}

}  // namespace
}  // namespace ringlet::cli
