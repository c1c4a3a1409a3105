#include "transport/wireup/wireup_hello.hpp"

#include <gtest/gtest.h>

namespace ringlet::transport {
namespace {

// Two ends after a successful handshake.
struct Ends {
  Ends() {
    Shuttle(dialler, acceptor);
    Shuttle(acceptor, dialler);
    Shuttle(dialler, acceptor);
  }
  static void Shuttle(Wire& from, Wire& to) { EXPECT_TRUE(Say(to, from.TakeReply()).ok()); }
  static Status Say(Wire& to, const Bytes& bytes, Descriptors descriptors = {}) {
    return to.Push(Received{1, Slice(Share(Bytes(bytes))), std::move(descriptors)});
  }

  Credentials credentials{7, {}};
  Wire dialler = Wire::Dialled(credentials, Purpose::kMemory, Nonce{}, kWireupPayloadBytesMax);
  Wire acceptor = Wire::Accepted(credentials, Nonce{}, kWireupPayloadBytesMax);
};

Frame FrameOf(const Bytes& bytes) {
  FrameReader reader(kWireupPayloadBytesMax);
  reader.Push(Slice(Share(Bytes(bytes))));
  return **reader.Next();
}

TEST(WireupHello, IsReadInPiecesAndKeepsLaterBytes) {
  const WireupHello said{Rank{3}, Rank{5}, 0, Bytes(10, std::byte{1})};
  Bytes stream = Encode(said);
  stream.push_back(std::byte{42});
  for (std::size_t cut = 0; cut < stream.size(); ++cut) {
    Ends ends;
    const auto middle = stream.begin() + static_cast<std::ptrdiff_t>(cut);
    ASSERT_TRUE(Ends::Say(ends.acceptor, Bytes(stream.begin(), middle)).ok());
    auto frame = ends.acceptor.Next();
    ASSERT_TRUE(frame.ok());
    EXPECT_EQ(frame->has_value(), cut + 1 == stream.size());
    const Bytes rest(middle, stream.end());
    if (!*frame) {
      ASSERT_TRUE(Ends::Say(ends.acceptor, rest).ok());
      frame = ends.acceptor.Next();
    }
    ASSERT_TRUE(frame.ok() && frame->has_value());
    const auto heard = ParseWireup(**frame, 0);
    ASSERT_TRUE(heard.ok());
    const auto& hello = std::get<WireupHello>(*heard);
    EXPECT_EQ(hello.from, said.from);
    EXPECT_EQ(hello.to, said.to);
    EXPECT_EQ(hello.offer, said.offer);
    if (cut + 1 == stream.size()) {
      ASSERT_TRUE(Ends::Say(ends.acceptor, rest).ok());
    }
    EXPECT_EQ(ends.acceptor.TakeUnread(), Bytes(1, std::byte{42}));
  }
}

TEST(WireupHello, ARefusalIsReadWithoutControlCharacters) {
  const auto heard = ParseWireup(FrameOf(Encode(WireupRefusal{"not\nhere"})), 0);
  ASSERT_TRUE(heard.ok());
  EXPECT_EQ(std::get<WireupRefusal>(*heard).why, "not here");
}

TEST(WireupHello, AnUnparsableHelloIsRefused) {
  for (const int type : {1, 2, 9}) {
    Writer frame = BeginFrame(static_cast<std::uint8_t>(type));
    const Bytes bytes = EndFrame(std::move(frame.U32(1)));
    EXPECT_EQ(ParseWireup(FrameOf(bytes), 0).error().code, Code::kProtocol) << type;
  }
}

TEST(WireupHello, RefusesMissingAndExcessDescriptors) {
  Ends ends;
  const Bytes said = Encode(WireupHello{Rank{0}, Rank{1}, 2, {}});
  ASSERT_TRUE(Ends::Say(ends.acceptor, said, Descriptors(1)).ok());
  const std::size_t came = ends.acceptor.TakeDescriptors().size();
  EXPECT_EQ(came, 1u);
  EXPECT_EQ(ParseWireup(FrameOf(said), came).error().code, Code::kProtocol);
  EXPECT_TRUE(ParseWireup(FrameOf(said), 2).ok());
  EXPECT_EQ(Ends::Say(ends.dialler, said, Descriptors(9)).error().code, Code::kProtocol);
}

TEST(WireupHello, DescriptorsBeforeTheProofAreDropped) {
  Ends ends;
  Wire stranger = Wire::Accepted(ends.credentials, Nonce{}, kWireupPayloadBytesMax);
  ASSERT_TRUE(Ends::Say(stranger, Bytes(), Descriptors(100)).ok());
  EXPECT_TRUE(stranger.TakeDescriptors().empty());
}

}  // namespace
}  // namespace ringlet::transport
