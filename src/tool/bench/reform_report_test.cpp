#include "tool/bench/reform_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

ReformLine Reformed(std::uint32_t rank, int first_ms) {
  return {.rank = rank,
          .told = milliseconds(11),
          .agreed = milliseconds(12),
          .rebuilt = milliseconds(13),
          .first_result = milliseconds(first_ms),
          .survivors = 2,
          .is_right = true};
}
const ReformLine kDeath{.rank = 1, .died = milliseconds(10)};

TEST(ReformReportTest, LinesRoundTrip) {
  for (const ReformLine& line : {kDeath, Reformed(2, 30)})
    EXPECT_EQ(ParseReformLine(ToLine(line)), line);
  for (const char* text : {"", "rank 2", "ringlet-died 1", "ringlet-died 1 x", "ringlet-died 1 -2",
                           "ringlet-reformed 1 2 3"})
    EXPECT_EQ(ParseReformLine(text), std::nullopt) << text;
}

TEST(ReformReportTest, CombinesTheTimesOfTheLastRank) {
  const auto run = CombineRecovery({Reformed(0, 30), kDeath, Reformed(2, 25)}, 3, 1);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->told, milliseconds(1));
  EXPECT_EQ(run->agreed, milliseconds(2));
  EXPECT_EQ(run->rebuilt, milliseconds(3));
  EXPECT_EQ(run->first_result, milliseconds(20));
}

TEST(ReformReportTest, RefusesIncompleteAndWrongRepetitions) {
  EXPECT_THAT(CombineRecovery({Reformed(0, 30), kDeath}, 3, 1).error().message,
              HasSubstr("1 of 1 ranks died, and 1 of 2 continued"));
  EXPECT_FALSE(CombineRecovery({Reformed(0, 30), Reformed(2, 30)}, 3, 1).ok());
  ReformLine wrong = Reformed(2, 30);
  wrong.is_right = false;
  EXPECT_THAT(CombineRecovery({Reformed(0, 30), kDeath, wrong}, 3, 1).error().message,
              HasSubstr("rank 2 has a wrong sum"));
  wrong = Reformed(2, 30);
  wrong.survivors = 1;
  EXPECT_FALSE(CombineRecovery({Reformed(0, 30), kDeath, wrong}, 3, 1).ok());
}

TEST(ReformReportTest, ShowsMediansAndTheWorst) {
  const ReformReport report{.ranks = 8,
                            .victims = 2,
                            .runs = {{.first_result = milliseconds(3)},
                                     {.first_result = milliseconds(9)},
                                     {.first_result = milliseconds(4)}}};
  EXPECT_THAT(ReformHeadText(3), HasSubstr("medians of 3, and the worst\n#  ranks   die"));
  EXPECT_EQ(ReformRowText(report),
            "       8     2      0.00      0.00      0.00      4.00      9.00\n");
  const auto json = nlohmann::json::parse(ReformJson(report));
  EXPECT_EQ(json["first_result_ms"], 4.0);
  EXPECT_EQ(json["repetitions"][1]["first_result_ms"], 9.0);
}

}  // namespace
}  // namespace ringlet::cli
