#include "frontends/cli/explain_collective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ExplainCollective, TellsTheChoiceItsReasonsAndTheStepsOfEveryRank) {
  const std::string text = CollectiveText({.ranks = 6, .bytes = 8}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("all_reduce of 8 bytes, 2 floats a call, among 6 ranks"),
                          HasSubstr("us  chosen"), HasSubstr("  ring "), HasSubstr("Rank 5: "),
                          HasSubstr("send 2 elements")));
  EXPECT_THAT(text, Not(HasSubstr("between hosts")));
}

TEST(ExplainCollective, ShowsOneRankWhenAsked) {
  const std::string text =
      CollectiveText({.ranks = 8, .hosts = 2, .bytes = 1 << 20, .rank = 3}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("Rank 3: "), HasSubstr("between hosts"),
                          HasSubstr("hierarchical"), Not(HasSubstr("Rank 2: "))));
}

TEST(ExplainCollective, BytesAreThoseOfTheLargerBuffer) {
  EXPECT_THAT(
      CollectiveText({.kind = collective::CallKind::kAllGather, .ranks = 4, .bytes = 64}, {}),
      HasSubstr("64 bytes, 4 floats a call"));
}

TEST(ExplainCollective, SaysWhatIsNotAllowed) {
  collective::Tuner tuner;
  tuner.choice = collective::ParseAlgorithmChoice("all_reduce:ring").value();
  EXPECT_THAT(CollectiveText({.ranks = 6, .bytes = 8}, tuner),
              HasSubstr("not allowed by RINGLET_HOST_ALGO"));
}

TEST(ExplainCollective, SaysWhatWasMeasured) {
  collective::Tuner tuner;
  tuner.measured =
      collective::TuningTable({{collective::CallKind::kAllReduce, 6, 1, collective::kAnyBytes,
                                collective::Algorithm::kDoubleTree}});
  EXPECT_THAT(CollectiveText({.ranks = 6, .bytes = 64}, tuner),
              testing::ContainsRegex("double_tree .* chosen: it was measured"));
}

}  // namespace
}  // namespace ringlet::cli
