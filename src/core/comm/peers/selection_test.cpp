#include "comm/peers/selection.hpp"

#include <gmock/gmock.h>

namespace ringlet::comm {
namespace {

using collective::Algorithm;
using collective::AlgorithmSet;
using testing::HasSubstr;

bool Has(const AlgorithmSet& set, Algorithm algorithm) {
  return set[static_cast<std::size_t>(algorithm)];
}

TEST(Selection, AcceptsTheNamesOfNcclAndRinglet) {
  EXPECT_TRUE(ReadSelection("")->all());
  const AlgorithmSet ring = *ReadSelection("RING");
  EXPECT_TRUE(Has(ring, Algorithm::kRing));
  EXPECT_TRUE(Has(ring, Algorithm::kSlices)) << "shared memory has neither rings nor trees";
  EXPECT_FALSE(Has(ring, Algorithm::kDoubleTree));
  const AlgorithmSet both = *ReadSelection("tree,ring");
  EXPECT_TRUE(Has(both, Algorithm::kDoubleTree));
  EXPECT_TRUE(Has(both, Algorithm::kRing));
  EXPECT_EQ(ReadSelection("bruck")->count(), 1u);
  EXPECT_TRUE(ReadSelection("nvls")->none());
  EXPECT_TRUE(ReadSelection("^symk")->all());
  EXPECT_FALSE(Has(*ReadSelection("^bruck"), Algorithm::kBruck));
  EXPECT_FALSE(Has(*ReadSelection("^ring"), Algorithm::kRing));
  EXPECT_TRUE(Has(*ReadSelection("^ring"), Algorithm::kSlices));
}

TEST(Selection, QuotesAnUnknownName) {
  EXPECT_THAT(ReadSelection("ring,circle").error().message, HasSubstr("\"circle\""));
  EXPECT_THAT(ReadSelection("ring,").error().message, HasSubstr("\"\""));
  EXPECT_THAT(ReadSelection("ring;tree").error().message, HasSubstr("one of ring, tree"));
  EXPECT_EQ(ReadSelection("^x").error().code, Code::kInvalidArgument);
}

TEST(Selection, DecidesWhetherACallCanRun) {
  const auto groups = collective::EvenGroups(2, 4);
  const collective::Layout layout{.order = collective::InOrder(groups), .groups = groups};
  collective::Call call{.kind = collective::CallKind::kAllReduce, .count = 1 << 20};
  for (const Algorithm wanted : {Algorithm::kRing, Algorithm::kDoubleTree, Algorithm::kDoubling}) {
    call.algorithms = 1u << static_cast<unsigned>(wanted);
    EXPECT_TRUE(CanRun(call, layout, {}));
    EXPECT_EQ(collective::Select(call, layout, Restricted({}, call)), wanted);
  }
  call.algorithms = 1u << static_cast<unsigned>(Algorithm::kSlices);
  EXPECT_FALSE(CanRun(call, layout, {})) << "without shared memory";
  call.count = 0;
  EXPECT_TRUE(CanRun(call, layout, {})) << "there is nothing to run";
  call.algorithms = 0;
  EXPECT_TRUE(CanRun(call, layout, {}));
}

TEST(Selection, RingsAndTreesOverLinksHaveATimeForTuners) {
  const auto groups = collective::EvenGroups(2, 4);
  const collective::Layout layout{.order = collective::InOrder(groups), .groups = groups};
  const collective::Call call{.kind = collective::CallKind::kAllReduce, .count = 1 << 20};
  const plan::TimeTable times = TimesOverLinks(call, layout, {});
  std::uint64_t ring = UINT64_MAX;
  for (const collective::Candidate& one : collective::CandidatesFor(call, layout, {}))
    if (Has(OverLinksLike(plan::NcclAlgorithm::kRing), one.algorithm))
      ring = std::min(ring, one.time_ns);
  EXPECT_EQ(times[1][2], ring);
  EXPECT_TRUE(times[0][2]);
  EXPECT_FALSE(times[1][0]) << "LL";
  EXPECT_FALSE(times[6][2]) << "PAT";
  collective::Call rings = call;
  rings.algorithms = 1u << static_cast<unsigned>(Algorithm::kRing);
  EXPECT_FALSE(TimesOverLinks(rings, layout, Restricted({}, rings))[0][2]);
}

}  // namespace
}  // namespace ringlet::comm
