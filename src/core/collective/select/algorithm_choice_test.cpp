#include "collective/select/algorithm_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

std::string ComplaintOf(std::string_view text) {
  const auto choice = ParseAlgorithmChoice(text);
  return choice.ok() ? "" : choice.error().message;
}

TEST(AlgorithmChoice, AllowsTheNamedAlgorithms) {
  const AlgorithmChoice choice = ParseAlgorithmChoice("ring; broadcast:^Ring").value();
  EXPECT_TRUE(choice.Allows(CallKind::kAllReduce, Algorithm::kRing));
  EXPECT_FALSE(choice.Allows(CallKind::kAllReduce, Algorithm::kDoubling));
  EXPECT_FALSE(choice.Allows(CallKind::kBroadcast, Algorithm::kRing));
  EXPECT_TRUE(choice.Allows(CallKind::kBroadcast, Algorithm::kBinomial));
  // No ring can run it, so the list does not apply to it.
  EXPECT_TRUE(choice.Allows(CallKind::kAllToAll, Algorithm::kBruck));
  EXPECT_EQ(ParseAlgorithmChoice("").value(), AlgorithmChoice());
}

TEST(AlgorithmChoice, ExcludesAlgorithmsForAllOperations) {
  const AlgorithmChoice choice = ParseAlgorithmChoice("^ring,doubling").value();
  for (const CallKind kind : {CallKind::kAllReduce, CallKind::kAllGather, CallKind::kBroadcast}) {
    EXPECT_FALSE(choice.Allows(kind, Algorithm::kRing)) << Name(kind);
    EXPECT_TRUE(choice.Allows(kind, Algorithm::kDirect)) << Name(kind);
  }
  EXPECT_FALSE(choice.Allows(CallKind::kAllReduce, Algorithm::kDoubling));
  EXPECT_TRUE(ParseAlgorithmChoice("all_reduce:hierarchical")
                  .value()
                  .Allows(CallKind::kAllReduce, Hierarchical(Within::kLinks, Between::kRing)));
}

TEST(AlgorithmChoice, ErrorsQuoteTheWordAndListAllowedNames) {
  EXPECT_THAT(ComplaintOf("fast"), HasSubstr("\"fast\", but it must be one of ring, doubling"));
  EXPECT_THAT(ComplaintOf("all_to_all:ring"), HasSubstr("must be one of bruck, direct"));
  EXPECT_THAT(ComplaintOf("all_to_all:^bruck,direct"),
              HasSubstr("excludes all algorithms of all_to_all"));
  EXPECT_THAT(ComplaintOf("all_reduce:^one_shot,slices,zero_copy"),
              HasSubstr("excludes all algorithms"));
  EXPECT_THAT(ComplaintOf("all_reduce:fetch"), HasSubstr("must be one of ring, "));
  EXPECT_THAT(ComplaintOf("sort:ring"), HasSubstr("not an operation"));
  EXPECT_THAT(ComplaintOf("ring;doubling"), HasSubstr("only the first"));
}

}  // namespace
}  // namespace ringlet::collective
