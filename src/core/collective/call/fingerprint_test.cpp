#include "collective/call/fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

const Fingerprint kMine{.sequence = 17,
                        .operation = CallKind::kAllReduce,
                        .type = DataType::kFloat32,
                        .op = ReduceOp::kSum,
                        .count = 9};

TEST(Fingerprint, EqualCallsAgree) {
  EXPECT_TRUE(CheckHeader(EncodeHeader(kMine, Rank{3}), Rank{3}, kMine, Rank{1}).ok());
}

TEST(Fingerprint, ADifferenceIsReportedWithTheCallsOfBothRanks) {
  Fingerprint theirs = kMine;
  theirs.count = 8;
  const Status status = CheckHeader(EncodeHeader(theirs, Rank{3}), Rank{3}, kMine, Rank{1});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kProtocol);
  EXPECT_EQ(status.error().message,
            "rank 3 called all_reduce of 8 float sum as operation 17, rank 1 called all_reduce "
            "of 9 float sum as operation 17: all ranks must call the same operations in the same "
            "order");
}

TEST(Fingerprint, ComparesEveryField) {
  const std::function<void(Fingerprint&)> changes[] = {
      [](Fingerprint& it) { it.sequence = 1ull << 40; },
      [](Fingerprint& it) { it.operation = CallKind::kReduce; },
      [](Fingerprint& it) { it.type = DataType::kInt32; },
      [](Fingerprint& it) { it.op = ReduceOp::kMax; },
      [](Fingerprint& it) { it.count = 1ull << 40; },
      [](Fingerprint& it) { it.root = Rank{2}; },
      [](Fingerprint& it) { it.selection = 3; },
  };
  for (const auto& change : changes) {
    Fingerprint theirs = kMine;
    change(theirs);
    EXPECT_FALSE(CheckHeader(EncodeHeader(theirs, Rank{3}), Rank{3}, kMine, Rank{1}).ok());
  }
}

TEST(Fingerprint, DistinguishesTheChoicesOfTuners) {
  std::set<std::uint8_t> marks = {0};
  for (std::uint8_t algorithm = 0; algorithm < 7; ++algorithm)
    for (std::uint8_t protocol = 0; protocol < 3; ++protocol)
      for (std::uint8_t channels = 0; channels < 11; ++channels)
        EXPECT_TRUE(marks
                        .insert(SelectionMark({.given = true,
                                               .algorithm = algorithm,
                                               .protocol = protocol,
                                               .channels = channels}))
                        .second);
  Fingerprint mine{.count = 8}, theirs{.count = 8};
  theirs.selection = 3;
  const Status status = CheckHeader(EncodeHeader(theirs, Rank{1}), Rank{1}, mine, Rank{0});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr("NCCL_TUNER_PLUGIN"));
}

TEST(Fingerprint, RefusesStrayBytesAsAHeader) {
  const Header stray{};
  const Status status = CheckHeader(stray, Rank{3}, kMine, Rank{1});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("without a header"));
}

TEST(Fingerprint, RefusesAHeaderWithASingleInvalidField) {
  const Header good = EncodeHeader(kMine, Rank{3});
  ASSERT_EQ(DecodeHeader(good), kMine);
  const std::pair<std::size_t, std::size_t> bad[] = {
      {0, 'r'}, {3, '1'}, {4, kCallKinds}, {5, kDataTypes}, {6, kReduceOps}};
  for (const auto& [at, value] : bad) {
    Header header = good;
    header[at] = static_cast<std::byte>(value);
    EXPECT_EQ(DecodeHeader(header), std::nullopt) << "byte " << at;
  }
}

TEST(Fingerprint, ReadsTheSequenceNumberFromAPartialHeader) {
  const Header header = EncodeHeader(kMine, Rank{3});
  EXPECT_EQ(SequenceIn(header), kMine.sequence);
  EXPECT_EQ(SequenceIn(View(header).first(16)), kMine.sequence);
  EXPECT_EQ(SequenceIn(View(header).first(15)), std::nullopt);
  EXPECT_EQ(SequenceIn(Header{}), std::nullopt);
}

TEST(Fingerprint, ReportsAHeaderOfAnotherRank) {
  const Status status = CheckHeader(EncodeHeader(kMine, Rank{2}), Rank{3}, kMine, Rank{1});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "the link of rank 1 to rank 3 leads to rank 2");
}

TEST(Fingerprint, HeadersHaveFixedBytes) {
  Fingerprint call = kMine;
  call.root = Rank{2};
  const Header header = EncodeHeader(call, Rank{3});
  const std::uint8_t expected[kHeaderBytes] = {'R', 'L', 'C', '2', 0, 7, 0, 0, 17, 0, 0,
                                               0,   0,   0,   0,   0, 9, 0, 0, 0,  0, 0,
                                               0,   0,   2,   0,   0, 0, 3, 0, 0,  0};
  for (std::size_t i = 0; i < kHeaderBytes; ++i) {
    EXPECT_EQ(std::to_integer<std::uint8_t>(header[i]), expected[i]) << i;
  }
}

TEST(Fingerprint, OnlyRootedOperationsNameARoot) {
  EXPECT_EQ(ToText(Fingerprint{.sequence = 1,
                               .operation = CallKind::kBroadcast,
                               .type = DataType::kInt8,
                               .count = 4,
                               .root = Rank{2}}),
            "broadcast of 4 int8 at root 2 as operation 1");
}

TEST(Fingerprint, MessagesNameTheirReceiverAndTheCollectivesBefore) {
  EXPECT_EQ(ToText(Fingerprint{.sequence = 3,
                               .operation = CallKind::kSendReceive,
                               .type = DataType::kInt8,
                               .count = 4,
                               .root = Rank{2}}),
            "a message of 4 int8 to rank 2 after 3 collectives");
  EXPECT_EQ(ToText(Fingerprint{.sequence = 3, .operation = CallKind::kBarrier}),
            "barrier as operation 3");
}

TEST(CallKind, NamesRoundTrip) {
  for (std::size_t i = 0; i < kCallKinds; ++i) {
    const auto kind = static_cast<CallKind>(i);
    EXPECT_EQ(CallKindNamed(Name(kind)), kind);
  }
  EXPECT_EQ(CallKindNamed("all_reduces"), std::nullopt);
}

}  // namespace
}  // namespace ringlet::collective
