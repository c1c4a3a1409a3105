#include "bootstrap/protocol.hpp"

#include <gtest/gtest.h>

namespace ringlet::bootstrap {
namespace {

CheckIn Example() {
  CheckIn check_in{3, 8, Shape::kRing, 5, 60'000, {1, 2}, {}};
  check_in.member_address = {{Address::Ipv4(10, 0, 0, 3, 99), *ParseAddress("[fe80::1%2]:7")},
                             "node7",
                             4711,
                             Bytes(10, std::byte{7})};
  return check_in;
}

// The only frame in `bytes`. Its payload must be all the rest.
Frame Cut(const Bytes& bytes) {
  FrameReader reader(kRootFrameBytesMax);
  reader.Push(Slice(Share(bytes)));
  auto frame = reader.Next();
  EXPECT_TRUE(frame.ok() && frame->has_value());
  EXPECT_EQ(reader.buffered_bytes(), 0u);
  return **frame;
}

Bytes With(View payload, std::size_t at, std::uint8_t value) {
  Bytes bytes(payload.begin(), payload.end());
  bytes[at] = static_cast<std::byte>(value);
  return bytes;
}

TEST(CheckIn, RoundTrips) {
  const Frame frame = Cut(ToFrame(Example()));
  EXPECT_EQ(frame.type, 1);
  const auto parsed = ParseCheckIn(frame.payload.bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->rank, 3u);
  EXPECT_EQ(parsed->size, 8u);
  EXPECT_EQ(parsed->shape, Shape::kRing);
  EXPECT_EQ(parsed->arity, 5);
  EXPECT_EQ(parsed->timeout_ms, 60'000u);
  EXPECT_EQ(parsed->member_address, Example().member_address);
}

TEST(CheckIn, TheLargestFitsAFrame) {
  CheckIn check_in = Example();
  check_in.member_address.addresses.assign(kAddressesMax,
                                           Address::Unix(std::string(kUnixPathBytesMax, 'x')));
  check_in.member_address.host = std::string(kHostBytesMax, 'h');
  check_in.member_address.peer_info.resize(kPeerInfoBytesMax);
  const Bytes bytes = ToFrame(check_in);
  EXPECT_LE(bytes.size() - kFrameHeaderBytes, kRootFrameBytesMax);
  EXPECT_TRUE(ParseCheckIn(Cut(bytes).payload.bytes).ok());
}

TEST(CheckIn, RefusesTruncationAndExcessBytes) {
  const Frame frame = Cut(ToFrame(Example()));
  const View payload = frame.payload.bytes;
  for (std::size_t cut = 0; cut < payload.size(); ++cut)
    EXPECT_FALSE(ParseCheckIn(payload.first(cut)).ok()) << cut;
  Bytes more(payload.begin(), payload.end());
  more.push_back(std::byte{0});
  EXPECT_FALSE(ParseCheckIn(more).ok());
  EXPECT_EQ(ParseCheckIn(With(payload, 8, 2)).error().message, "a malformed check-in frame");
  EXPECT_FALSE(ParseCheckIn(With(payload, 23, kAddressesMax + 1)).ok());
}

TEST(Welcome, RoundTrips) {
  for (const std::optional<std::uint32_t> hosted :
       {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(0),
        std::optional<std::uint32_t>(9)}) {
    const Frame frame = Cut(ToFrame(Welcome{"node7", 4711, hosted}));
    EXPECT_EQ(frame.type, 2);
    const auto parsed = ParseWelcome(frame.payload.bytes);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->host, "node7");
    EXPECT_EQ(parsed->pid, 4711u);
    EXPECT_EQ(parsed->hosted_rank, hosted);
    for (std::size_t cut = 0; cut < frame.payload.bytes.size(); ++cut)
      EXPECT_FALSE(ParseWelcome(frame.payload.bytes.first(cut)).ok()) << cut;
  }
}

TEST(Failure, RoundTripsAndTruncatesItsText) {
  const Frame frame = Cut(ToFrame(FrameType::kReject, {Code::kPeerLost, 7, "rank 7 was lost"}));
  EXPECT_EQ(frame.type, 3);
  const auto parsed = ParseFailure(frame.payload.bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->code, Code::kPeerLost);
  EXPECT_EQ(parsed->origin, 7u);
  EXPECT_EQ(parsed->text, "rank 7 was lost");
  EXPECT_FALSE(ParseFailure(With(frame.payload.bytes, 0, 7)).ok()) << "a code that is none";
  for (std::size_t cut = 0; cut < frame.payload.bytes.size(); ++cut)
    EXPECT_FALSE(ParseFailure(frame.payload.bytes.first(cut)).ok()) << cut;

  EXPECT_EQ(ParseFailure(frame.payload.bytes, 0, 8)->origin, 7u);
  EXPECT_EQ(ParseFailure(frame.payload.bytes, 0, 7)->origin, kNoOrigin) << "no rank";
  EXPECT_EQ(ParseFailure(frame.payload.bytes, 0, 8)->text, "rank 7 was lost");
  EXPECT_NE(ParseFailure(frame.payload.bytes, 7, 8)->text, "rank 7 was lost") << "it lives";

  const Failure wordy{Code::kAborted, kNoOrigin, std::string(kFailureTextBytesMax + 1, 'x')};
  const Frame cut = Cut(ToFrame(FrameType::kFailure, wordy));
  EXPECT_EQ(cut.type, 14);
  EXPECT_EQ(ParseFailure(cut.payload.bytes)->text.size(), kFailureTextBytesMax);
}

TEST(Activity, RoundTrips) {
  for (const Activity& activity :
       {Activity{}, Activity{7, 0u}, Activity{~std::uint64_t{0}, 9u},
        Activity{1, 2u, Bytes(32, std::byte{3}), {4, 0, 5}},
        Activity{.operations = 1, .slow_sends = {{1, 2, 3, Instant(4)}, {5}}},
        Activity{.others = {{7, 0, 2, 3, 1u, Bytes(32, std::byte{3}), {4, 5}}, {8, 1, 2}}}}) {
    Writer out;
    Encode(out, activity);
    const auto parsed = ParseActivity(out.view());
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, activity);
    for (std::size_t cut = 0; cut < out.size(); ++cut)
      EXPECT_FALSE(ParseActivity(out.view().first(cut)).ok()) << cut;
  }
}

TEST(Activity, OmitsOtherCommunicatorsIfThereAreTooMany) {
  Activity activity;
  for (std::size_t count : {kActivityOthersMax, kActivityOthersMax + 1}) {
    activity.others.assign(count, {.communicator = 1, .rank = 0, .ranks = 1});
    Writer out;
    Encode(out, activity);
    const auto parsed = ParseActivity(out.view());
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->others.size(), count <= kActivityOthersMax ? count : 0);
  }
}

TEST(Activity, RefusesARankBeyondItsCommunicator) {
  Writer out;
  Encode(out, Activity{.others = {{.communicator = 1, .rank = 2, .ranks = 2}}});
  EXPECT_FALSE(ParseActivity(out.view()).ok());
}

TEST(Activity, EncodesOnlyTheFirstOfManySlowSends) {
  Activity activity;
  for (std::uint32_t peer = 0; peer < 2 * kActivitySlowSendsMax; ++peer)
    activity.slow_sends.push_back({.peer = peer});
  Writer out;
  Encode(out, activity);
  EXPECT_EQ(ParseActivity(out.view())->slow_sends.size(), kActivitySlowSendsMax);
  Bytes more(out.view().begin(), out.view().end());
  const std::size_t count_at = more.size() - 28 * kActivitySlowSendsMax - 2;
  ASSERT_EQ(more[count_at], std::byte{kActivitySlowSendsMax});
  more[count_at] = std::byte{kActivitySlowSendsMax + 1};
  more.resize(more.size() + 28);
  EXPECT_FALSE(ParseActivity(more).ok());
}

TEST(LocalRankCheckIn, RoundTripsWithoutItsMemberAddress) {
  const LocalRankCheckIn local_rank{Example(), Bytes(5, std::byte{3})};
  const Frame frame = Cut(ToFrame(local_rank));
  EXPECT_EQ(frame.type, 18);
  const auto parsed = ParseLocalRank(frame.payload.bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->check_in.rank, 3u);
  EXPECT_EQ(parsed->check_in.root, (RootShare{1, 2}));
  EXPECT_EQ(parsed->check_in.member_address, MemberAddress());
  EXPECT_EQ(parsed->difference, local_rank.difference);
  EXPECT_FALSE(ParseLocalRank(frame.payload.bytes.first(22)).ok());
}

TEST(Identify, RoundTrips) {
  const Frame frame = Cut(ToFrame(Identify{7, {8, 9}}));
  const auto parsed = ParseIdentify(frame.payload.bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->rank, 7u);
  EXPECT_EQ(parsed->subtree, (PlaceRange{8, 9}));
  EXPECT_FALSE(ParseIdentify(frame.payload.bytes.first(11)).ok());
}

TEST(Roots, DivideTheRanksIntoContiguousShares) {
  EXPECT_EQ(RanksOfRoot({0, 3}, 7), (PlaceRange{0, 3}));
  EXPECT_EQ(RanksOfRoot({1, 3}, 7), (PlaceRange{3, 2}));
  EXPECT_EQ(RanksOfRoot({2, 3}, 7), (PlaceRange{5, 2}));
  for (std::uint32_t size = 1; size < 40; ++size)
    for (std::uint32_t count = 1; count <= size; ++count)
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        const PlaceRange range = RanksOfRoot({RootOfRank(rank, size, count), count}, size);
        ASSERT_LT(rank - range.first, range.count) << rank << " of " << size << ", " << count;
      }
}

TEST(Pieces, CoverTheDataInOrderWithoutACopy) {
  const Slice roster(Share(Bytes(kPieceBytesMin * 3 + 5, std::byte{1})));
  const std::vector<Slice> pieces = PiecesOf(roster);
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_EQ(pieces[3].bytes.size(), 5u);
  EXPECT_EQ(pieces[1].bytes.data(), roster.bytes.data() + kPieceBytesMin);
  EXPECT_EQ(pieces[1].owner, roster.owner) << "no copy";
}

TEST(FrameTypes, HaveTheNumbersOfTheDocument) {
  EXPECT_EQ(ToFrame(FrameType::kDone),
            Bytes({std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{6}}));
  EXPECT_EQ(static_cast<int>(FrameType::kIdentify), 7);
  EXPECT_EQ(static_cast<int>(FrameType::kTable), 11);
  EXPECT_EQ(static_cast<int>(FrameType::kLeave), 15);
}

TEST(RangesText, JoinsConsecutiveRanks) {
  EXPECT_EQ(RangesText({}), "");
  EXPECT_EQ(RangesText({2}), "2");
  EXPECT_EQ(RangesText({2, 3}), "2,3");
  EXPECT_EQ(RangesText({0, 3, 4, 5, 7, 9, 10}), "0,3-5,7,9,10");
}

}  // namespace
}  // namespace ringlet::bootstrap
