#include "transport/wireup_line.hpp"

#include <gtest/gtest.h>

#include "base/wire/frame.hpp"

namespace ringlet::transport {
namespace {

// Two ends whose handshake has succeeded.
struct Pair {
  Pair() {
    Shuttle(dialler, acceptor);
    Shuttle(acceptor, dialler);
    Shuttle(dialler, acceptor);
  }
  static void Shuttle(WireupLine& from, WireupLine& to) {
    EXPECT_TRUE(Say(to, from.TakeReply()).ok());
  }
  static Status Say(WireupLine& to, const Bytes& bytes, Descriptors descriptors = {}) {
    return to.Push(Received{1, Slice(View(bytes)), std::move(descriptors)});
  }

  Credentials credentials{7, {}};
  WireupLine dialler{Handshake::Dialler(credentials, Purpose::kMemory, Nonce{})};
  WireupLine acceptor{Handshake::Acceptor(credentials, Nonce{})};
};

TEST(WireupLine, OpensOnce) {
  Pair pair;
  EXPECT_TRUE(pair.acceptor.JustOpened());
  EXPECT_FALSE(pair.acceptor.JustOpened());
  EXPECT_TRUE(pair.dialler.JustOpened());
  EXPECT_EQ(pair.acceptor.purpose(), Purpose::kMemory);
  EXPECT_FALSE(pair.acceptor.Next()->has_value());
}

TEST(WireupLine, HearsAnWireupHelloInAnyCutAndKeepsTheRest) {
  const WireupHello said{Rank{3}, Rank{5}, 0, Bytes(10, std::byte{1})};
  Bytes stream = Encode(said);
  stream.push_back(std::byte{42});
  for (std::size_t cut = 0; cut < stream.size(); ++cut) {
    Pair pair;
    const auto middle = stream.begin() + static_cast<std::ptrdiff_t>(cut);
    ASSERT_TRUE(Pair::Say(pair.acceptor, Bytes(stream.begin(), middle)).ok());
    auto heard = pair.acceptor.Next();
    ASSERT_TRUE(heard.ok());
    EXPECT_EQ(heard->has_value(), cut + 1 == stream.size());
    ASSERT_TRUE(Pair::Say(pair.acceptor, Bytes(middle, stream.end())).ok());
    if (!*heard) heard = pair.acceptor.Next();
    ASSERT_TRUE(heard.ok() && heard->has_value());
    const auto& hello = std::get<WireupHello>(**heard);
    EXPECT_EQ(hello.from, said.from);
    EXPECT_EQ(hello.to, said.to);
    EXPECT_EQ(hello.offer, said.offer);
    EXPECT_EQ(pair.acceptor.TakeUnread(), Bytes(1, std::byte{42}));
  }
}

TEST(WireupLine, HearsARefusalWithoutControlCharacters) {
  Pair pair;
  ASSERT_TRUE(Pair::Say(pair.dialler, Encode(Refusal{"not\nhere"})).ok());
  const auto heard = pair.dialler.Next();
  ASSERT_TRUE(heard.ok() && heard->has_value());
  EXPECT_EQ(std::get<Refusal>(**heard).why, "not here");
}

TEST(WireupLine, RefusesWhatDoesNotParse) {
  for (const int wrong : {0, 1, 2}) {
    Pair pair;
    Writer frame = BeginFrame(wrong == 0 ? 1 : 9);
    Bytes bytes = EndFrame(std::move(frame.U32(1)));
    if (wrong == 2) bytes[2] = std::byte{0xff};  // a length of megabytes
    ASSERT_TRUE(Pair::Say(pair.acceptor, bytes).ok());
    EXPECT_EQ(pair.acceptor.Next().error().code, Code::kProtocol) << wrong;
  }
}

TEST(WireupLine, DescriptorsMustBeAllThereAndNotTooMany) {
  Pair pair;
  const Bytes said = Encode(WireupHello{Rank{0}, Rank{1}, 2, {}});
  ASSERT_TRUE(Pair::Say(pair.acceptor, said, Descriptors(1)).ok());
  EXPECT_EQ(pair.acceptor.Next().error().code, Code::kProtocol);
  EXPECT_EQ(Pair::Say(pair.dialler, said, Descriptors(9)).error().code, Code::kProtocol);
}

TEST(WireupLine, KnowsWhetherItHasHeardAndSaidAnything) {
  WireupLine line(Handshake::Acceptor(Credentials{7, {}}, Nonce{}));
  EXPECT_TRUE(line.silent());
  ASSERT_TRUE(Pair::Say(line, Bytes(1)).ok());
  EXPECT_FALSE(line.silent());
  EXPECT_TRUE(line.TakeReply().empty());
  EXPECT_FALSE(line.answered());
  EXPECT_FALSE(Pair::Say(line, Bytes(100)).ok());
}

}  // namespace
}  // namespace ringlet::transport
