#include "base/wire/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet {
namespace {

const Credentials kCredentials{77, {}};

Bytes TextFrame(std::uint8_t type, std::string_view text) {
  Writer out = BeginFrame(type);
  out.Raw(AsView(text));
  return EndFrame(std::move(out));
}

void Append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

TEST(Wire, AuthenticatesBeforeItCarriesFrames) {
  Wire dialled = Wire::Dialled(kCredentials, Purpose::kPeer, {}, 100);
  Wire accepted = Wire::Accepted(kCredentials, {}, 100);
  ASSERT_TRUE(accepted.Push(Slice(Share(dialled.TakeReply()))).ok());
  EXPECT_FALSE(accepted.open());
  EXPECT_FALSE(accepted.ConsumeOpened());
  ASSERT_TRUE(dialled.Push(Slice(Share(accepted.TakeReply()))).ok());
  EXPECT_TRUE(dialled.ConsumeOpened());
  EXPECT_FALSE(dialled.ConsumeOpened()) << "once";
  EXPECT_TRUE(dialled.open());

  // The proof and the next frames may arrive in one piece.
  Bytes more = dialled.TakeReply();
  Append(more, TextFrame(3, "first"));
  Append(more, TextFrame(4, "second"));
  ASSERT_TRUE(accepted.Push(Slice(Share(std::move(more)))).ok());
  EXPECT_TRUE(accepted.ConsumeOpened());
  EXPECT_EQ(accepted.purpose(), Purpose::kPeer);
  EXPECT_EQ(AsText((*accepted.Next())->payload.bytes), "first");
  EXPECT_EQ((*accepted.Next())->type, 4);
  EXPECT_FALSE(accepted.Next()->has_value());
}

TEST(Wire, YieldsNoFrameBeforeTheProof) {
  Wire accepted = Wire::Accepted(kCredentials, {}, 100);
  const Bytes early = TextFrame(1, "let me in");
  ASSERT_TRUE(accepted.Push(Slice(View(early))).ok());
  EXPECT_FALSE(accepted.Next()->has_value());
  const Status status = accepted.Push(Slice(Share(Bytes(48 + 32, std::byte{1}))));
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(accepted.open());
  EXPECT_FALSE(accepted.Next()->has_value());
}

TEST(Wire, BoundsTheFramesAfterTheHandshake) {
  Wire dialled = Wire::Dialled(kCredentials, Purpose::kPeer, {}, 4);
  Wire accepted = Wire::Accepted(kCredentials, {}, 4);
  ASSERT_TRUE(accepted.Push(Slice(Share(dialled.TakeReply()))).ok());
  ASSERT_TRUE(dialled.Push(Slice(Share(accepted.TakeReply()))).ok());
  ASSERT_TRUE(accepted.Push(Slice(Share(dialled.TakeReply()))).ok());
  ASSERT_TRUE(accepted.Push(Slice(Share(TextFrame(1, "12345")))).ok());
  EXPECT_FALSE(accepted.Next().ok());
}

// ---- Encrypted connections.

constexpr LineOptions kEncrypted{.encrypt = true};

Nonce NonceOf(int value) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(value));
  return nonce;
}

Slice Piece(const Bytes& bytes) {
  return Slice(Share(Bytes(bytes)));
}

Bytes Copy(const Slice& slice) {
  return {slice.bytes.begin(), slice.bytes.end()};
}

// Two ends, and all bytes sent between them.
struct Session {
  explicit Session(int nonces = 1)
      : dialled(Wire::Dialled(kCredentials, Purpose::kTree, NonceOf(nonces), 1 << 20, kEncrypted)),
        accepted(Wire::Accepted(kCredentials, NonceOf(nonces + 1), 1 << 20, kEncrypted)) {
    Bytes hello = dialled.TakeReply();
    EXPECT_TRUE(accepted.Push(Piece(hello)).ok());
    const Bytes challenge = accepted.TakeReply();
    EXPECT_TRUE(dialled.Push(Piece(challenge)).ok());
    const Bytes proof = dialled.TakeReply();
    EXPECT_TRUE(accepted.Push(Piece(proof)).ok());
    Append(to_acceptor, hello);
    Append(to_acceptor, proof);
    Append(to_dialler, challenge);
    EXPECT_TRUE(dialled.open() && accepted.open());
  }
  Bytes Say(std::string_view text) {
    Bytes sealed = Copy(dialled.Seal(Piece(TextFrame(1, text))));
    Append(to_acceptor, sealed);
    return sealed;
  }
  Bytes Answer(std::string_view text) { return Copy(accepted.Seal(Piece(TextFrame(1, text)))); }

  Wire dialled, accepted;
  Bytes to_acceptor, to_dialler;
};

std::string Heard(Wire& wire) {
  const auto frame = wire.Next();
  return frame.ok() && *frame ? std::string(AsText((*frame)->payload.bytes)) : "(nothing)";
}

void ExpectBroken(const Status& status) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kProtocol);
  EXPECT_THAT(status.error().message, testing::HasSubstr("changed on its way or replayed"));
}

TEST(EncryptedWire, CarriesUnreadableFramesInBothDirections) {
  Session session;
  const Bytes sealed = session.Say("the plan of attack");
  EXPECT_EQ(AsText(sealed).find("plan"), std::string_view::npos);
  ASSERT_TRUE(session.accepted.Push(Piece(sealed)).ok());
  EXPECT_EQ(Heard(session.accepted), "the plan of attack");
  ASSERT_TRUE(session.dialled.Push(Piece(session.Answer("understood"))).ok());
  EXPECT_EQ(Heard(session.dialled), "understood");
  const Bytes same = session.Say("the plan of attack");
  EXPECT_NE(same, sealed) << "what is said twice looks different";
}

TEST(EncryptedWire, AcceptsProofAndFramesInPiecesOfAnySize) {
  for (const std::size_t piece : {1u, 777u, 1u << 20}) {
    Wire dialled = Wire::Dialled(kCredentials, Purpose::kTree, NonceOf(1), 1 << 20, kEncrypted);
    Wire accepted = Wire::Accepted(kCredentials, NonceOf(2), 1 << 20, kEncrypted);
    ASSERT_TRUE(accepted.Push(Piece(dialled.TakeReply())).ok());
    ASSERT_TRUE(dialled.Push(Piece(accepted.TakeReply())).ok());
    Bytes stream = dialled.TakeReply();
    const std::string text(3 * kRecordBytesMax, 'x');
    Append(stream, Copy(dialled.Seal(Piece(TextFrame(1, "short")))));
    Append(stream, Copy(dialled.Seal(Piece(TextFrame(1, text)))));
    for (View rest = stream; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size())))
      ASSERT_TRUE(accepted.Push(Slice(rest.first(std::min(piece, rest.size())))).ok());
    EXPECT_EQ(Heard(accepted), "short");
    EXPECT_EQ(Heard(accepted), text);
  }
}

TEST(EncryptedWire, RefusesARecordingOfAnotherSession) {
  Session session;
  session.Say("pay him");
  Wire again = Wire::Accepted(kCredentials, NonceOf(9), 1 << 20, kEncrypted);
  EXPECT_FALSE(again.Push(Piece(session.to_acceptor)).ok());
  EXPECT_FALSE(again.open());
  EXPECT_EQ(Heard(again), "(nothing)");

  // Its records do not fit into another session of the same ranks either.
  Session other(5);
  ExpectBroken(other.accepted.Push(Piece(session.Say("pay him"))));
}

TEST(EncryptedWire, RefusesReflectedRecords) {
  Session session;
  ExpectBroken(session.accepted.Push(Piece(session.Answer("what the acceptor said"))));
  Session mirrored;
  ExpectBroken(mirrored.dialled.Push(Piece(mirrored.Say("what the dialler said"))));
}

TEST(EncryptedWire, RefusesRepeatedSwappedAndMissingRecords) {
  Session repeated;
  const Bytes one = repeated.Say("one");
  ASSERT_TRUE(repeated.accepted.Push(Piece(one)).ok());
  ExpectBroken(repeated.accepted.Push(Piece(one)));
  ExpectBroken(repeated.accepted.Push(Piece(repeated.Say("two"))));  // later records fail too

  Session swapped;
  const Bytes first = swapped.Say("first");
  Bytes both = swapped.Say("second");
  Append(both, first);
  ExpectBroken(swapped.accepted.Push(Piece(both)));
  EXPECT_EQ(Heard(swapped.accepted), "(nothing)");

  Session missing;
  missing.Say("never arrives");
  ExpectBroken(missing.accepted.Push(Piece(missing.Say("arrives"))));
}

TEST(EncryptedWire, FailsOnEveryFlippedBit) {
  for (std::size_t bit = 0; bit < 8 * (kRecordOverheadBytes + kFrameHeaderBytes + 2); ++bit) {
    Session session;
    Bytes sealed = session.Say("hi");
    sealed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    Status status = session.accepted.Push(Piece(sealed));
    // A record with a larger claimed length waits for more data, and never opens.
    if (status.ok()) status = session.accepted.Push(Piece(Bytes(kRecordBytesMax)));
    ExpectBroken(status);
    EXPECT_EQ(Heard(session.accepted), "(nothing)") << "bit " << bit;
  }
}

TEST(EncryptedWire, ATruncatedStreamYieldsOnlyCompleteFrames) {
  Session session;
  const Bytes whole = session.Say("whole");
  Bytes cut = session.Say("cut short");
  cut.pop_back();
  ASSERT_TRUE(session.accepted.Push(Piece(whole)).ok());
  ASSERT_TRUE(session.accepted.Push(Piece(cut)).ok());
  EXPECT_EQ(Heard(session.accepted), "whole");
  EXPECT_EQ(Heard(session.accepted), "(nothing)");
}

TEST(EncryptedWire, RefusesPlainFrames) {
  Session session, empty;
  Bytes two = TextFrame(1, std::string(100, 'a'));
  Append(two, TextFrame(1, "b"));
  Append(two, TextFrame(1, "c"));
  Append(two, TextFrame(1, "d"));
  ExpectBroken(session.accepted.Push(Piece(two)));
  ExpectBroken(empty.accepted.Push(Piece(TextFrame(1, ""))));
}

TEST(Wire, LeavesFramesOfAPlainConnectionUnchanged) {
  Wire dialled = Wire::Dialled(kCredentials, Purpose::kPeer, {}, 100);
  Wire accepted = Wire::Accepted(kCredentials, {}, 100);
  ASSERT_TRUE(accepted.Push(Piece(dialled.TakeReply())).ok());
  ASSERT_TRUE(dialled.Push(Piece(accepted.TakeReply())).ok());
  const Slice frame = Piece(TextFrame(1, "plain"));
  const Slice sealed = dialled.Seal(frame);
  EXPECT_EQ(sealed.bytes.data(), frame.bytes.data()) << "not even copied";
  EXPECT_FALSE(dialled.encrypts());
}

}  // namespace
}  // namespace ringlet
