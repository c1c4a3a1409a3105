#include "rendezvous/invitation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/digest.hpp"

namespace ringlet::rendezvous {
namespace {

constexpr std::uint32_t kTag = 0x544c4752;  // "RGLT"
constexpr std::uint8_t kVersion = 1;
constexpr std::uint16_t kFixedAddressFlag = 1;
constexpr std::uint16_t kJobFlag = 2;
constexpr std::size_t kJobOffset = 112;
constexpr std::size_t kChecksumOffset = 120;
constexpr std::string_view kTextPrefix = "ringlet1:";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<UniqueId> Encode(const Invitation& invitation) {
  Writer addresses;
  std::uint8_t count = 0;
  Writer head;
  constexpr std::size_t kHeadBytes = 52;
  const std::size_t addresses_end = invitation.job ? kJobOffset : kChecksumOffset;
  for (const Address& root : invitation.roots) {
    Writer one;
    ringlet::Encode(one, root);
    if (kHeadBytes + addresses.size() + one.size() > addresses_end) break;
    addresses.Raw(one.view());
    ++count;
  }
  if (count == 0) return Error{Code::kInvalidArgument, "a unique id needs an address of its root"};
  const int flags =
      (invitation.fixed_address ? kFixedAddressFlag : 0) | (invitation.job ? kJobFlag : 0);
  head.U32(kTag).U8(kVersion).U8(count).U16(static_cast<std::uint16_t>(flags));
  head.U64(invitation.credentials.magic)
      .Raw(invitation.credentials.secret)
      .U32(invitation.parent_size);
  head.Raw(addresses.view());
  if (invitation.job) head.Pad(kJobOffset - head.size()).U64(*invitation.job);
  head.Pad(kChecksumOffset - head.size());
  head.U64(DigestOf(head.view()));
  UniqueId id;
  std::ranges::copy(head.view(), id.bytes.begin());
  return id;
}

Result<Invitation> Decode(const UniqueId& id) {
  if (std::ranges::all_of(id.bytes, [](std::byte b) { return b == std::byte{0}; }))
    return Error{
        Code::kInvalidArgument,
        "the unique id is all zero: create it on one rank and send all 128 bytes to the others"};
  Reader in(View(id.bytes).first(kChecksumOffset));
  if (in.U32() != kTag)
    return Error{Code::kInvalidArgument,
                 "the unique id was not made by Ringlet (another library's id, or not all 128 "
                 "bytes arrived)"};
  const std::uint8_t version = in.U8();
  if (version != kVersion)
    return Error{
        Code::kInvalidArgument,
        fmt::format("the unique id has version {}, this Ringlet reads {}", version, kVersion)};
  if (Reader(View(id.bytes).subspan(kChecksumOffset)).U64() !=
      DigestOf(View(id.bytes).first(kChecksumOffset)))
    return Error{Code::kInvalidArgument,
                 "the unique id is damaged: its check sum does not fit its bytes"};
  Invitation invitation;
  const std::uint8_t count = in.U8();
  const std::uint16_t flags = in.U16();
  invitation.fixed_address = (flags & kFixedAddressFlag) != 0;
  if ((flags & kJobFlag) != 0) invitation.job = Reader(View(id.bytes).subspan(kJobOffset)).U64();
  invitation.credentials.magic = in.U64();
  std::ranges::copy(in.Raw(sizeof(Secret)), invitation.credentials.secret.begin());
  invitation.parent_size = in.U32();
  for (std::uint8_t i = 0; i < count && in.ok(); ++i) {
    invitation.roots.push_back(DecodeAddress(in));
    if (invitation.roots.back().kind == Address::Kind::kNone) in.Fail();
  }
  if (!in.ok() || invitation.roots.empty())
    return Error{Code::kInvalidArgument, "the unique id is damaged: its addresses cannot be read"};
  return invitation;
}

std::string ToText(const UniqueId& id) {
  std::string text(kTextPrefix);
  for (const std::byte b : id.bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

Result<UniqueId> FromText(std::string_view text) {
  if (!text.starts_with(kTextPrefix))
    return Error{Code::kInvalidArgument, "the text of a unique id begins with \"ringlet1:\""};
  text.remove_prefix(kTextPrefix.size());
  if (text.size() != 2 * UniqueId::kBytes)
    return Error{
        Code::kInvalidArgument,
        fmt::format("the text of a unique id has {} hexadecimal digits after \"ringlet1:\", not {}",
                    2 * UniqueId::kBytes, text.size())};
  UniqueId id;
  for (std::size_t i = 0; i < UniqueId::kBytes; ++i) {
    const int high = HexValue(text[2 * i]), low = HexValue(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return Error{Code::kInvalidArgument,
                   fmt::format("the text of the unique id is not hexadecimal at digit {}", 2 * i)};
    id.bytes[i] = static_cast<std::byte>(high * 16 + low);
  }
  return id;
}

Invitation FromCommId(std::string_view comm_id, const Address& address, std::string_view secret) {
  Invitation invitation;
  Secret key{};
  invitation.credentials.secret = KeyedHash(
      key, {AsView("ringlet comm id secret 1"), AsView(comm_id), AsView("\n"), AsView(secret)});
  const Secret name = KeyedHash(key, {AsView("ringlet comm id magic 1"), AsView(comm_id)});
  invitation.credentials.magic = Reader(name).U64();
  invitation.roots = {address};
  invitation.fixed_address = true;
  return invitation;
}

}  // namespace ringlet::rendezvous
