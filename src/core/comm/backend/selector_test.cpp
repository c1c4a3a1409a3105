#include "comm/backend/selector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

using collective::Algorithm;
using collective::Call;

std::uint32_t Only(Algorithm algorithm) {
  return std::uint32_t{1} << static_cast<std::size_t>(algorithm);
}

Selector OfTwoHosts() {
  return {{.order = {Rank{0}, Rank{1}}, .groups = {{Rank{0}}, {Rank{1}}}}, {}};
}

TEST(Selector, ACallUsesItsSelectedAlgorithms) {
  const Selector selector = OfTwoHosts();
  const Call call{.count = 8, .algorithms = Only(Algorithm::kRing)};
  EXPECT_TRUE(selector.Can(call).ok());
  EXPECT_EQ(selector.For(call), Algorithm::kRing);
}

TEST(Selector, ErrorNamesACallThatCannotRun) {
  const Status can = OfTwoHosts().Can({.count = 8, .algorithms = Only(Algorithm::kOneShot)});
  EXPECT_EQ(can.error().message,
            "none of the selected algorithms can run all_reduce of 8 float sum by selected "
            "algorithms here");
}

TEST(Selector, AChoiceOfATunerSelectsMatchingAlgorithms) {
  const collective::TunerChoice ring{
      .given = true,
      .algorithm = static_cast<std::uint8_t>(plan::NcclAlgorithm::kRing),
      .channels = 4};
  const Call chosen = Selector::Choose({.count = 8}, ring);
  EXPECT_NE(chosen.algorithms & Only(Algorithm::kRing), 0u);
  EXPECT_EQ(chosen.algorithms & Only(Algorithm::kDoubleTree), 0u);
  EXPECT_EQ(chosen.tuner.channels, 0u) << "links have no channels of NCCL";
  const Call both = Selector::Choose({.count = 8, .algorithms = Only(Algorithm::kRing)}, ring);
  EXPECT_EQ(both.algorithms, Only(Algorithm::kRing)) << "the caller's limit stays";
}

}  // namespace
}  // namespace ringlet::comm
