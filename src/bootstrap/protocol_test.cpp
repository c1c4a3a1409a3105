#include "bootstrap/protocol.hpp"

#include <gtest/gtest.h>

namespace ringlet::bootstrap {
namespace {

CheckIn Example() {
  CheckIn check_in{3, 8, Shape::kRing, 5, 60'000, {}};
  check_in.introduction = {{Address::Ipv4(10, 0, 0, 3, 99), *ParseAddress("[fe80::1%2]:7")},
                           "node7",
                           4711,
                           Bytes(10, std::byte{7})};
  return check_in;
}

// The one frame in `bytes`; its payload must be all of it.
Frame Cut(const Bytes& bytes) {
  FrameReader reader(kCheckInBytesMax);
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

TEST(CheckIn, SurvivesTheTrip) {
  const Frame frame = Cut(ToFrame(Example()));
  EXPECT_EQ(frame.type, 1);
  const auto parsed = ParseCheckIn(frame.payload.bytes);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->rank, 3u);
  EXPECT_EQ(parsed->size, 8u);
  EXPECT_EQ(parsed->shape, Shape::kRing);
  EXPECT_EQ(parsed->arity, 5);
  EXPECT_EQ(parsed->timeout_ms, 60'000u);
  EXPECT_EQ(parsed->introduction, Example().introduction);
}

TEST(CheckIn, TheLargestFits) {
  CheckIn check_in = Example();
  check_in.introduction.addresses.assign(kAddressesMax,
                                         Address::Unix(std::string(kUnixPathBytesMax, 'x')));
  check_in.introduction.host = std::string(kHostBytesMax, 'h');
  check_in.introduction.card.resize(kCardBytesMax);
  const Bytes bytes = ToFrame(check_in);
  EXPECT_LE(bytes.size() - kFrameHeaderBytes, kCheckInBytesMax);
  EXPECT_TRUE(ParseCheckIn(Cut(bytes).payload.bytes).ok());
}

TEST(CheckIn, EveryCutAndWhatIsTooMuchIsRefused) {
  const Frame frame = Cut(ToFrame(Example()));
  const View payload = frame.payload.bytes;
  for (std::size_t cut = 0; cut < payload.size(); ++cut)
    EXPECT_FALSE(ParseCheckIn(payload.first(cut)).ok()) << cut;
  Bytes more(payload.begin(), payload.end());
  more.push_back(std::byte{0});
  EXPECT_FALSE(ParseCheckIn(more).ok());
  EXPECT_EQ(ParseCheckIn(With(payload, 8, 2)).error().message, "a malformed check-in frame");
  EXPECT_FALSE(ParseCheckIn(With(payload, 15, kAddressesMax + 1)).ok());
}

TEST(Welcome, SurvivesTheTrip) {
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

TEST(Failure, SurvivesTheTripAndIsCutToItsBound) {
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

  const Failure wordy{Code::kAborted, kNoOrigin, std::string(kFailureTextBytesMax + 1, 'x')};
  const Frame cut = Cut(ToFrame(FrameType::kFailure, wordy));
  EXPECT_EQ(cut.type, 14);
  EXPECT_EQ(ParseFailure(cut.payload.bytes)->text.size(), kFailureTextBytesMax);
}

TEST(Activity, SurvivesTheTrip) {
  for (const Activity& activity : {Activity{}, Activity{7, 0u}, Activity{~std::uint64_t{0}, 9u}}) {
    const Frame frame = Cut(ToFrame(activity));
    EXPECT_EQ(frame.type, 17);
    const auto parsed = ParseActivity(frame.payload.bytes);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, activity);
    for (std::size_t cut = 0; cut < frame.payload.bytes.size(); ++cut)
      EXPECT_FALSE(ParseActivity(frame.payload.bytes.first(cut)).ok()) << cut;
  }
}

TEST(FrameTypes, HaveTheNumbersOfTheDocument) {
  EXPECT_EQ(ToFrame(FrameType::kDone),
            Bytes({std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{6}}));
  EXPECT_EQ(static_cast<int>(FrameType::kIdentify), 7);
  EXPECT_EQ(static_cast<int>(FrameType::kTable), 11);
  EXPECT_EQ(static_cast<int>(FrameType::kLeave), 15);
}

TEST(RangesText, JoinsNeighbours) {
  EXPECT_EQ(RangesText({}), "");
  EXPECT_EQ(RangesText({2}), "2");
  EXPECT_EQ(RangesText({2, 3}), "2,3");
  EXPECT_EQ(RangesText({0, 3, 4, 5, 7, 9, 10}), "0,3-5,7,9,10");
}

}  // namespace
}  // namespace ringlet::bootstrap
