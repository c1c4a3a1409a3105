#include "base/wire/acceptor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringlet {
namespace {

constexpr Instant kNow = std::chrono::seconds(1);
constexpr LineId kLine = kFirstAcceptedLine;
const Credentials kAcceptorCredentials{77, {}};

// An acceptor, and one peer that calls it.
struct AcceptorRig {
  NonceSource nonces{Secret{}};
  std::vector<Action> done;
  Bytes rest;  // the acceptor reads it until its line has no further frame
  Acceptor acceptor{{.credentials = kAcceptorCredentials,
                     .payload_bytes_max = 100,
                     .options = {},
                     .callers = {.owner = "here", .half_open_max = 1}},
                    nonces,
                    [this](Action action) { done.push_back(std::move(action)); }};
  Wire peer = Wire::Dialled(kAcceptorCredentials, Purpose::kRing, Nonce{}, 100);

  std::optional<Acceptor::FirstFrame> Say(const Bytes& bytes) {
    return acceptor.OnReceived({kLine, Slice(View(bytes))});
  }
  /// Completes the handshake, then sends `frame`.
  std::optional<Acceptor::FirstFrame> Prove(const Bytes& frame) {
    acceptor.OnAccepted({kLine, Address::Ipv4(10, 0, 0, 1, 7)}, kNow);
    EXPECT_FALSE(Say(peer.TakeReply()));
    EXPECT_TRUE(peer.Push(std::get<Send>(done.back()).data).ok());
    rest = peer.TakeReply();
    rest.insert(rest.end(), frame.begin(), frame.end());
    return Say(rest);
  }
  bool HungUp() const { return !done.empty() && std::holds_alternative<Hangup>(done.back()); }
};

Bytes EmptyFrame(std::uint8_t type) {
  return EndFrame(BeginFrame(type));
}

TEST(Acceptor, ReturnsTheFirstFrameAndThenTheConnection) {
  AcceptorRig rig;
  Bytes two = EmptyFrame(3);
  const Bytes second = EmptyFrame(4);
  two.insert(two.end(), second.begin(), second.end());
  const auto caller = rig.Prove(two);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->line, kLine);
  EXPECT_EQ(caller->purpose, Purpose::kRing);
  EXPECT_EQ(caller->frame.type, 3);
  Acceptor::HeldCaller taken = rig.acceptor.Take(kLine);
  EXPECT_EQ(taken.from, Address::Ipv4(10, 0, 0, 1, 7));
  EXPECT_EQ((*taken.line.Next())->type, 4) << "what came behind it is not lost";
  EXPECT_FALSE(rig.HungUp());
}

TEST(Acceptor, AnAuthenticatedCallerOccupiesNoSlot) {
  AcceptorRig rig;
  rig.Prove({});
  EXPECT_TRUE(rig.acceptor.HasRoom(kNow));
  rig.acceptor.OnAccepted({kLine + 1, {}}, kNow);
  EXPECT_FALSE(rig.acceptor.HasRoom(kNow));
}

TEST(Acceptor, RejectsMalformedFrames) {
  AcceptorRig rig;
  Bytes long_one = EmptyFrame(3);
  long_one[1] = std::byte{1};  // 256 bytes follow
  EXPECT_FALSE(rig.Prove(long_one));
  EXPECT_TRUE(rig.HungUp());
  EXPECT_EQ(rig.acceptor.log().turned_away(), 1u);
  EXPECT_FALSE(rig.Say(EmptyFrame(3))) << "the line is gone";
}

TEST(Acceptor, ADismissedCallerGetsAReasonAndIsNotCountedAsRejected) {
  AcceptorRig rig;
  ASSERT_TRUE(rig.Prove(EmptyFrame(3)));
  rig.acceptor.Dismiss(kLine, EmptyFrame(9));
  EXPECT_TRUE(rig.HungUp());
  ASSERT_TRUE(rig.peer.Push(std::get<Send>(rig.done[rig.done.size() - 2]).data).ok());
  EXPECT_EQ((*rig.peer.Next())->type, 9);
  EXPECT_EQ(rig.acceptor.log().turned_away(), 0u);
}

TEST(Acceptor, ARejectedCallerMayGetAReason) {
  AcceptorRig rig;
  ASSERT_TRUE(rig.Prove(EmptyFrame(3)));
  rig.acceptor.RejectCaller(kLine, "not expected", EmptyFrame(9));
  EXPECT_TRUE(rig.HungUp());
  EXPECT_EQ(rig.acceptor.log().last(), "10.0.0.1:7: not expected");
}

TEST(Acceptor, SendsToAuthenticatedCallersOfAGivenPurpose) {
  AcceptorRig rig;
  rig.Prove({});
  rig.acceptor.OnAccepted({kLine + 1, {}}, kNow);
  const std::size_t before = rig.done.size();
  rig.acceptor.SendToProven(Purpose::kPeer, Slice(Share(EmptyFrame(9))));
  EXPECT_EQ(rig.done.size(), before);
  rig.acceptor.SendToProven(Purpose::kRing, Slice(Share(EmptyFrame(9))));
  ASSERT_EQ(rig.done.size(), before + 1);
  EXPECT_EQ(std::get<Send>(rig.done.back()).line, kLine);
}

}  // namespace
}  // namespace ringlet
