#include "base/wire/handshake.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ringlet {
namespace {

using testing::HasSubstr;

Credentials Ours() {
  Credentials credentials{0x1122334455667788, {}};
  for (std::size_t i = 0; i < 32; ++i) credentials.secret[i] = static_cast<std::byte>(i);
  return credentials;
}

Nonce Filled(int value) {
  Nonce nonce;
  nonce.fill(static_cast<std::byte>(value));
  return nonce;
}

std::string Hex(View bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

Status PushAll(Handshake& to, const Bytes& bytes) {
  View in(bytes);
  return to.Push(in);
}

struct TwoSides {
  Handshake dialler = Handshake::Dialler(Ours(), Purpose::kTree, Filled(1));
  Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2));
};

// Computed with Python's hashlib.blake2b from the text of docs/reference/wire.md.
TEST(Handshake, SendsTheDocumentedBytes) {
  TwoSides pair;
  const Bytes hello = pair.dialler.TakeOutput();
  EXPECT_TRUE(std::ranges::equal(View(hello).first(4), AsView(kGreeting)));
  EXPECT_EQ(
      Hex(hello),
      "524c48310102000088776655443322110101010101010101010101010101010101010101010101010101010101"
      "010101");
  ASSERT_TRUE(PushAll(pair.acceptor, hello).ok());
  const Bytes challenge = pair.acceptor.TakeOutput();
  EXPECT_EQ(
      Hex(challenge),
      "524c4331010000000202020202020202020202020202020202020202020202020202020202020202cb61730e00"
      "db83c87670ae44a03a97ce46f959559df8ecfb9c2af9320c6bab6c");
  ASSERT_TRUE(PushAll(pair.dialler, challenge).ok());
  EXPECT_EQ(Hex(pair.dialler.TakeOutput()),
            "cfb5f828c117b3279eac7f2f1db09ed6f182818d22869e57b795ce62a4c2ae96");
}

TEST(Handshake, SucceedsInPiecesOfAnySizeAndKeepsLaterBytes) {
  for (const std::size_t piece : {1u, 2u, 31u, 48u, 1000u}) {
    TwoSides pair;
    Bytes to_acceptor = pair.dialler.TakeOutput(), to_dialler;
    Bytes left;
    bool said = false;
    for (int round = 0; round < 400 && left.size() < 4; ++round) {
      View in = View(to_acceptor).first(std::min(piece, to_acceptor.size()));
      const auto taken = static_cast<std::ptrdiff_t>(in.size());
      ASSERT_TRUE(pair.acceptor.Push(in).ok());
      left.insert(left.end(), in.begin(), in.end());
      to_acceptor.erase(to_acceptor.begin(), to_acceptor.begin() + taken);
      const Bytes challenge = pair.acceptor.TakeOutput();
      to_dialler.insert(to_dialler.end(), challenge.begin(), challenge.end());

      View back = View(to_dialler).first(std::min(piece, to_dialler.size()));
      const auto back_taken = static_cast<std::ptrdiff_t>(back.size());
      ASSERT_TRUE(pair.dialler.Push(back).ok());
      to_dialler.erase(to_dialler.begin(), to_dialler.begin() + back_taken);
      const Bytes proof = pair.dialler.TakeOutput();
      to_acceptor.insert(to_acceptor.end(), proof.begin(), proof.end());
      if (pair.dialler.done() && !said) to_acceptor.resize(to_acceptor.size() + 4, std::byte{'x'});
      said = pair.dialler.done();
    }
    EXPECT_TRUE(pair.dialler.done());
    EXPECT_TRUE(pair.acceptor.done());
    EXPECT_EQ(pair.acceptor.purpose(), Purpose::kTree);
    EXPECT_EQ(pair.dialler.purpose(), Purpose::kTree);
    EXPECT_EQ(AsText(left), "xxxx") << "pieces of " << piece;
  }
}

TEST(Handshake, ADiallerWithAnotherSecretFailsAndSendsNoProof) {
  Credentials other = Ours();
  other.secret[31] ^= std::byte{1};
  Handshake dialler = Handshake::Dialler(other, Purpose::kTree, Filled(1));
  Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2));
  ASSERT_TRUE(PushAll(acceptor, dialler.TakeOutput()).ok());
  const Status status = PushAll(dialler, acceptor.TakeOutput());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("the secrets differ"));
  EXPECT_TRUE(dialler.TakeOutput().empty()) << "a proof for who does not know the secret";
  EXPECT_FALSE(dialler.done());
}

TEST(Handshake, TheAcceptorRefusesAWrongProof) {
  for (std::size_t bit = 0; bit < 256; bit += 5) {
    TwoSides pair;
    ASSERT_TRUE(PushAll(pair.acceptor, pair.dialler.TakeOutput()).ok());
    ASSERT_TRUE(PushAll(pair.dialler, pair.acceptor.TakeOutput()).ok());
    Bytes proof = pair.dialler.TakeOutput();
    proof[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    const Status status = PushAll(pair.acceptor, proof);
    ASSERT_FALSE(status.ok()) << "bit " << bit;
    EXPECT_THAT(status.error().message, HasSubstr("does not know this communicator's secret"));
    EXPECT_FALSE(pair.acceptor.done());
  }
}

TEST(Handshake, FailsOnEveryFlippedBitOfTheHelloOrTheChallenge) {
  for (std::size_t bit = 0; bit < 8 * (48 + 72); ++bit) {
    TwoSides pair;
    Bytes hello = pair.dialler.TakeOutput();
    if (bit < 8 * 48) hello[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    if (!PushAll(pair.acceptor, hello).ok()) continue;
    Bytes challenge = pair.acceptor.TakeOutput();
    if (bit >= 8 * 48) challenge[bit / 8 - 48] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(PushAll(pair.dialler, challenge).ok()) << "bit " << bit;
  }
}

TEST(Handshake, RefusesARecordingOfAnotherConnection) {
  TwoSides first;
  Bytes recording = first.dialler.TakeOutput();
  ASSERT_TRUE(PushAll(first.acceptor, recording).ok());
  ASSERT_TRUE(PushAll(first.dialler, first.acceptor.TakeOutput()).ok());
  const Bytes proof = first.dialler.TakeOutput();
  recording.insert(recording.end(), proof.begin(), proof.end());
  Handshake again = Handshake::Acceptor(Ours(), Filled(3));
  EXPECT_FALSE(PushAll(again, recording).ok());
}

TEST(Handshake, RefusesTheAcceptorsReflectedProof) {
  TwoSides pair;
  ASSERT_TRUE(PushAll(pair.acceptor, pair.dialler.TakeOutput()).ok());
  const Bytes challenge = pair.acceptor.TakeOutput();
  EXPECT_FALSE(PushAll(pair.acceptor, Bytes(challenge.end() - 32, challenge.end())).ok());
}

TEST(Handshake, BothSidesReportAnotherVersionOrCommunicator) {
  Credentials other = Ours();
  other.magic = 5;
  Handshake dialler = Handshake::Dialler(other, Purpose::kTree, Filled(1));
  Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2));
  const Status theirs = PushAll(acceptor, dialler.TakeOutput());
  ASSERT_FALSE(theirs.ok());
  EXPECT_EQ(theirs.error().message,
            "a peer that looks for communicator 0000000000000005; this is 1122334455667788");
  const Status ours = PushAll(dialler, acceptor.TakeOutput());
  ASSERT_FALSE(ours.ok());
  EXPECT_THAT(ours.error().message, HasSubstr("this unique id is stale"));

  TwoSides pair;
  Bytes hello = pair.dialler.TakeOutput();
  hello[4] = std::byte{9};
  const Status version = PushAll(pair.acceptor, hello);
  ASSERT_FALSE(version.ok());
  EXPECT_EQ(version.error().message, "a peer with version 9 of the protocol; this is version 1");
  const Status told = PushAll(pair.dialler, pair.acceptor.TakeOutput());
  ASSERT_FALSE(told.ok());
  EXPECT_THAT(told.error().message, HasSubstr("use the same Ringlet on all ranks"));
}

// Computed in the same way.
TEST(Handshake, DerivesADocumentedKeyPerDirection) {
  Handshake dialler = Handshake::Dialler(Ours(), Purpose::kTree, Filled(1), {.encrypt = true});
  Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2), {.encrypt = true});
  ASSERT_TRUE(PushAll(acceptor, dialler.TakeOutput()).ok());
  ASSERT_TRUE(PushAll(dialler, acceptor.TakeOutput()).ok());
  ASSERT_TRUE(PushAll(acceptor, dialler.TakeOutput()).ok());
  for (const Handshake* const side : {&dialler, &acceptor}) {
    ASSERT_TRUE(side->done());
    EXPECT_TRUE(side->encrypts());
    EXPECT_EQ(Hex(side->Keys().from_dialler),
              "38c07e83fbd8f98fde396c215c3747297fdcd54508fb897d29114a4260b54389");
    EXPECT_EQ(Hex(side->Keys().from_acceptor),
              "61e03362e1a1a5f4925686f88e9648c5c2edf58f9be190871724a28e5978acc1");
  }
}

TEST(Handshake, BothSidesReportAnEncryptionMismatch) {
  for (const bool dialler_encrypts : {false, true}) {
    Handshake dialler =
        Handshake::Dialler(Ours(), Purpose::kTree, Filled(1), {.encrypt = dialler_encrypts});
    Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2), {.encrypt = !dialler_encrypts});
    const Status theirs = PushAll(acceptor, dialler.TakeOutput());
    ASSERT_FALSE(theirs.ok());
    EXPECT_THAT(theirs.error().message,
                HasSubstr(dialler_encrypts ? "a peer that encrypts" : "a peer that does not"));
    const Status ours = PushAll(dialler, acceptor.TakeOutput());
    ASSERT_FALSE(ours.ok());
    EXPECT_THAT(ours.error().message,
                HasSubstr(dialler_encrypts ? "it does not encrypt" : "it requires encryption"));
    for (const Status& status : {theirs, ours})
      EXPECT_THAT(status.error().message, HasSubstr("set RINGLET_ENCRYPT alike on all ranks"));
    EXPECT_FALSE(dialler.done() || acceptor.done());
    EXPECT_TRUE(dialler.TakeOutput().empty());
  }
}

// A third party between two ends with equal encryption can end the connection, but cannot change
// its encryption.
TEST(Handshake, AThirdPartyCannotChangeTheEncryptionFlag) {
  for (const bool encrypt : {false, true}) {
    Handshake dialler = Handshake::Dialler(Ours(), Purpose::kTree, Filled(1), {.encrypt = encrypt});
    Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2), {.encrypt = !encrypt});
    Bytes hello = dialler.TakeOutput();
    hello[6] ^= std::byte{1};  // as the acceptor requires
    ASSERT_TRUE(PushAll(acceptor, hello).ok());
    const Status status = PushAll(dialler, acceptor.TakeOutput());
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("the secrets differ"));
  }
}

TEST(Handshake, OtherProtocolsFailWithoutAReply) {
  Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2));
  EXPECT_TRUE(PushAll(acceptor, Bytes(47, std::byte{'G'})).ok()) << "nothing is parsed too early";
  const Status status = PushAll(acceptor, Bytes(1, std::byte{'G'}));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("does not speak Ringlet's protocol"));
  EXPECT_TRUE(acceptor.TakeOutput().empty());

  Handshake dialler = Handshake::Dialler(Ours(), Purpose::kRing, Filled(1));
  dialler.TakeOutput();
  const Status http = PushAll(dialler, Bytes(72, std::byte{'H'}));
  ASSERT_FALSE(http.ok());
  EXPECT_THAT(http.error().message, HasSubstr("another program listens there"));
}

TEST(Handshake, RefusesUnknownPurposes) {
  for (const int purpose : {0, 8, 255}) {
    Handshake dialler = Handshake::Dialler(Ours(), static_cast<Purpose>(purpose), Filled(1));
    Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2));
    EXPECT_FALSE(PushAll(acceptor, dialler.TakeOutput()).ok()) << purpose;
  }
  for (int purpose = 1; purpose <= 7; ++purpose) {
    Handshake dialler = Handshake::Dialler(Ours(), static_cast<Purpose>(purpose), Filled(1));
    Handshake acceptor = Handshake::Acceptor(Ours(), Filled(2));
    EXPECT_TRUE(PushAll(acceptor, dialler.TakeOutput()).ok()) << purpose;
  }
}

TEST(KeyedHash, IsKeyedBlake2bOfTheJoinedParts) {
  EXPECT_EQ(Hex(KeyedHash(Ours().secret, {AsView("ab"), AsView("c")})),
            "d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f");
}

TEST(NonceSource, DerivesDistinctNoncesFromItsSeedAndACount) {
  NonceSource source(Filled(5));
  std::set<Nonce> drawn;
  const Nonce first = source.Next();
  EXPECT_EQ(Hex(first), "08ecaa8f7cb405fd1dc2af7014a5e61b83fd5c8d330e18ba3678e7585e83cbb7");
  drawn.insert(first);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(drawn.insert(source.Next()).second);
}

}  // namespace
}  // namespace ringlet
