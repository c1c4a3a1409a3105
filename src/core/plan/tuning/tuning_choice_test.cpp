#include "plan/tuning/tuning_choice.hpp"

#include <gmock/gmock.h>

namespace ringlet::plan {
namespace {

using testing::HasSubstr;

bool Allowed(std::string_view algorithms, std::string_view protocols, Function function,
             NcclAlgorithm algorithm, Protocol protocol = Protocol::kSimple) {
  return ParseTuningChoice(algorithms, protocols).value().Allows(function, algorithm, protocol);
}

TEST(TuningChoiceTest, ListsApplyToAllFunctionsOrToASingleOne) {
  constexpr auto kAllReduce = Function::kAllReduce, kReduce = Function::kReduce;
  EXPECT_TRUE(Allowed("", "", kAllReduce, NcclAlgorithm::kNvls));
  EXPECT_TRUE(Allowed("ring,TREE", "", kAllReduce, NcclAlgorithm::kTree));
  EXPECT_FALSE(Allowed("ring,TREE", "", kAllReduce, NcclAlgorithm::kNvls));
  EXPECT_FALSE(Allowed("^ring", "", kAllReduce, NcclAlgorithm::kRing));
  EXPECT_TRUE(Allowed("^ring", "", kReduce, NcclAlgorithm::kTree));
  EXPECT_TRUE(Allowed("ring;allreduce:tree,nvls", "", kAllReduce, NcclAlgorithm::kNvls));
  EXPECT_FALSE(Allowed("ring;allreduce:tree,nvls", "", kAllReduce, NcclAlgorithm::kRing));
  EXPECT_TRUE(Allowed("ring;allreduce:tree,nvls", "", kReduce, NcclAlgorithm::kRing));
  EXPECT_TRUE(Allowed("allreduce:tree", "", kReduce, NcclAlgorithm::kRing));
  EXPECT_FALSE(Allowed("", "^LL128", kReduce, NcclAlgorithm::kRing, Protocol::kLl128));
  EXPECT_TRUE(ParseTuningChoice("", "LL")->protocols_given);
}

TEST(TuningChoiceTest, ErrorsQuoteTheWordAndListAllowedNames) {
  const auto why = [](std::string_view algorithms, std::string_view protocols) {
    const auto choice = ParseTuningChoice(algorithms, protocols);
    return choice.ok() ? std::string() : choice.error().message;
  };
  EXPECT_EQ(why("rings", ""),
            "RINGLET_ALGO has \"rings\", but it must be one of Tree, Ring, CollnetDirect, "
            "CollnetChain, NVLS, NVLSTree, PAT");
  EXPECT_EQ(why("", "fast"), "RINGLET_PROTO has \"fast\", but it must be one of LL, LL128, Simple");
  EXPECT_THAT(why("gather:ring", ""), HasSubstr("\"gather\""));
  EXPECT_THAT(why("ring;tree", ""), HasSubstr("\"tree\", but only the first list"));
  EXPECT_THAT(why("ring,", ""), HasSubstr("\"\""));
}

}  // namespace
}  // namespace ringlet::plan
