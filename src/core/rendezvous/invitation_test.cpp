#include "rendezvous/invitation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "base/value/digest.hpp"
#include "base/value/prng.hpp"

namespace ringlet::rendezvous {
namespace {

Invitation Example() {
  Invitation invitation;
  invitation.credentials.magic = 0x0123456789abcdef;
  for (std::size_t i = 0; i < 32; ++i)
    invitation.credentials.secret[i] = static_cast<std::byte>(i + 1);
  invitation.roots = {Address::Ipv4(10, 0, 0, 5, 4711), *ParseAddress("[fd00::1]:4711")};
  invitation.parent_size = 12;
  return invitation;
}

TEST(Invitation, RoundTripsThroughBytesAndText) {
  const Invitation invitation = Example();
  const UniqueId id = *Encode(invitation);
  const UniqueId again = *FromText(ToText(id));
  EXPECT_EQ(id, again);
  EXPECT_EQ(*Decode(again), invitation);
}

TEST(Invitation, ContainsTheJobOfAFirstId) {
  Invitation invitation = Example();
  invitation.job = 0xfedcba9876543210;
  EXPECT_EQ(*Decode(*Encode(invitation)), invitation);
  invitation.roots.assign(20, Address::Ipv4(10, 0, 0, 5, 1));
  const Invitation decoded = *Decode(*Encode(invitation));
  EXPECT_EQ(decoded.roots.size(), 8u) << "the job takes the place of one";
  EXPECT_EQ(decoded.job, invitation.job);
}

TEST(Invitation, KeepsTheFirstAddressesThatFit) {
  Invitation invitation = Example();
  invitation.roots.assign(20, Address::Ipv4(10, 0, 0, 5, 1));
  for (std::uint16_t i = 0; i < 20; ++i) invitation.roots[i].port = i;
  const Invitation decoded = *Decode(*Encode(invitation));
  ASSERT_EQ(decoded.roots.size(), 9u);
  EXPECT_EQ(decoded.roots[8].port, 8);
}

TEST(Invitation, KeepsTwoLongAddresses) {
  Invitation invitation = Example();
  invitation.roots.assign(5, *ParseAddress("[fd00::1]:4711"));
  EXPECT_EQ(Decode(*Encode(invitation))->roots.size(), 2u);
  invitation.roots = {Address::Unix(std::string(66, 'x'))};
  EXPECT_EQ(*Decode(*Encode(invitation)), invitation) << "all 68 bytes";
  invitation.roots = {Address::Unix(std::string(67, 'x'))};
  EXPECT_FALSE(Encode(invitation).ok());
}

TEST(Invitation, RefusesAnAddressWithoutAKind) {
  UniqueId id = *Encode(Example());
  id.bytes[52] = std::byte{0};  // the kind of the first address
  id.bytes[5] = std::byte{1};   // the only one
  Writer sum;
  sum.U64(DigestOf(View(id.bytes).first(120)));
  std::ranges::copy(sum.view(), id.bytes.begin() + 120);
  EXPECT_FALSE(Decode(id).ok());
}

TEST(Invitation, AcceptsUppercaseDigits) {
  const UniqueId id = *Encode(Example());
  std::string text = ToText(id);
  std::transform(text.begin() + 9, text.end(), text.begin() + 9,
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_NE(text.find('A'), std::string::npos);
  EXPECT_NE(text.find('F'), std::string::npos);
  EXPECT_EQ(FromText(text).value(), id);
  text[9] = '@';
  EXPECT_FALSE(FromText(text).ok());
  text[9] = 'G';
  EXPECT_FALSE(FromText(text).ok());
}

TEST(Invitation, RequiresAnAddress) {
  Invitation invitation = Example();
  invitation.roots.clear();
  EXPECT_EQ(Encode(invitation).error().code, Code::kInvalidArgument);
}

TEST(Invitation, DistinguishesEmptyForeignAndNewerIds) {
  EXPECT_NE(Decode(UniqueId{}).error().message.find("all zero"), std::string::npos);
  UniqueId foreign;
  foreign.bytes.fill(std::byte{7});
  EXPECT_NE(Decode(foreign).error().message.find("not made by Ringlet"), std::string::npos);
  UniqueId newer = *Encode(Example());
  newer.bytes[4] = std::byte{9};
  EXPECT_NE(Decode(newer).error().message.find("version 9"), std::string::npos);
}

TEST(Invitation, RefusesEveryFlippedBit) {
  const UniqueId good = *Encode(Example());
  for (std::size_t bit = 0; bit < 8 * UniqueId::kBytes; ++bit) {
    UniqueId bad = good;
    bad.bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(Decode(bad).ok()) << "bit " << bit;
  }
}

TEST(Invitation, AddressesDoNotOverlapTheChecksum) {
  // 69 addresses of kind none, a byte each, in room for 68 bytes, and a check sum that begins like
  // one more. Found by the fuzzer.
  UniqueId id;
  constexpr std::uint8_t kFound[] = {0x52, 0x47, 0x4c, 0x54, 1,    0x45, 0x44, 0x44,
                                     0x44, 0x44, 0,    0,    0x3a, 0,    0};
  std::ranges::copy(std::as_bytes(std::span(kFound)), id.bytes.begin());
  Writer sum;
  sum.U64(DigestOf(View(id.bytes).first(120)));
  std::ranges::copy(sum.view(), id.bytes.begin() + 120);
  const auto decoded = Decode(id);
  ASSERT_FALSE(decoded.ok());
  EXPECT_NE(decoded.error().message.find("its addresses cannot be read"), std::string::npos);
}

TEST(Invitation, RandomDamageIsRefused) {
  Prng prng(1);
  for (int i = 0; i < 10'000; ++i) {
    UniqueId id = *Encode(Example());
    for (int k = 0; k < 4; ++k) id.bytes[prng.Below(128)] = static_cast<std::byte>(prng.Next());
    const auto decoded = Decode(id);
    EXPECT_TRUE(!decoded.ok() || *decoded == Example());
  }
}

TEST(Invitation, TextErrorsStateThePosition) {
  EXPECT_NE(FromText("hello").error().message.find("begins with"), std::string::npos);
  EXPECT_NE(FromText("ringlet1:00").error().message.find("not 2"), std::string::npos);
  std::string text = ToText(*Encode(Example()));
  text[9 + 17] = 'x';
  EXPECT_NE(FromText(text).error().message.find("digit 16"), std::string::npos);
}

TEST(Invitation, RanksThatShareCommIdAndSecretDeriveTheSameInvitation) {
  const Address address = Address::Ipv4(127, 0, 0, 1, 5000);
  const Invitation a = FromCommId("localhost:5000", address, "s");
  EXPECT_EQ(a, FromCommId("localhost:5000", address, "s"));
  EXPECT_TRUE(a.fixed_address);
  EXPECT_NE(a.credentials.secret, FromCommId("localhost:5000", address, "t").credentials.secret);
  EXPECT_EQ(a.credentials.magic, FromCommId("localhost:5000", address, "t").credentials.magic);
  EXPECT_NE(a.credentials.magic, FromCommId("localhost:5001", address, "s").credentials.magic);
  EXPECT_EQ(*Decode(*Encode(a)), a);
}

}  // namespace
}  // namespace ringlet::rendezvous
