#include "bootstrap/roster.hpp"

#include <fmt/format.h>

#include "base/digest.hpp"

namespace ringlet::bootstrap {
namespace {

constexpr std::uint32_t kTag = 0x314f5252;  // "RRO1"
constexpr std::size_t kHeaderBytes = 16;    // tag, size, digest of everything after the header

}  // namespace

void Encode(Writer& out, const Introduction& introduction) {
  out.U8(static_cast<std::uint8_t>(introduction.addresses.size()));
  for (const Address& address : introduction.addresses) Encode(out, address);
  out.Text(introduction.host).U32(introduction.pid).Blob(introduction.card);
}

Introduction DecodeIntroduction(Reader& in) {
  Introduction introduction;
  const std::size_t count = in.U8();
  if (count > kAddressesMax) in.Fail();
  for (std::size_t i = 0; i < count && in.ok(); ++i)
    introduction.addresses.push_back(DecodeAddress(in));
  introduction.host = in.Text(kHostBytesMax);
  introduction.pid = in.U32();
  const View card = in.Blob(kCardBytesMax);
  introduction.card.assign(card.begin(), card.end());
  return introduction;
}

std::string Describe(Rank rank, const Introduction& introduction) {
  return fmt::format("rank {} (host {}, pid {})", Index(rank), introduction.host, introduction.pid);
}

Roster Roster::Build(const std::vector<Bytes>& records) {
  Writer body;
  std::uint32_t end = 0;
  for (const Bytes& record : records) body.U32(end += static_cast<std::uint32_t>(record.size()));
  for (const Bytes& record : records) body.Raw(record);
  Roster roster;
  roster.size_ = static_cast<std::uint32_t>(records.size());
  roster.digest_ = DigestOf(body.view());
  Writer whole;
  whole.U32(kTag).U32(roster.size_).U64(roster.digest_).Raw(body.view());
  roster.bytes_ = Slice(Share(whole.Take()));
  return roster;
}

Result<Roster> Roster::Parse(const Slice& bytes, std::uint32_t size) {
  Reader in(bytes.bytes);
  Roster roster;
  const std::uint32_t tag = in.U32();
  roster.size_ = in.U32();
  roster.digest_ = in.U64();
  if (!in.ok() || tag != kTag) return Error{Code::kProtocol, "the roster is no roster"};
  if (roster.size_ != size)
    return Error{Code::kProtocol,
                 fmt::format("the roster has {} ranks, not {}", roster.size_, size)};
  if (DigestOf(bytes.bytes.subspan(kHeaderBytes)) != roster.digest_)
    return Error{Code::kProtocol, "the roster is damaged: its digest does not fit"};
  const std::size_t index_bytes = std::size_t{4} * size;
  if (in.remaining() < index_bytes) return Error{Code::kProtocol, "the roster is cut short"};
  roster.bytes_ = bytes.Owned();
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < size; before = roster.EndOf(i++))
    if (roster.EndOf(i) < before) return Error{Code::kProtocol, "the roster's index is broken"};
  if (before != in.remaining() - index_bytes)
    return Error{Code::kProtocol, "the roster's index does not fit its records"};
  return roster;
}

std::uint32_t Roster::EndOf(std::uint32_t index) const {
  return Reader(bytes_.bytes.subspan(kHeaderBytes + std::size_t{4} * index, 4)).U32();
}

View Roster::RecordOf(std::uint32_t index) const {
  const std::size_t records = kHeaderBytes + std::size_t{4} * size_;
  const std::uint32_t begin = index == 0 ? 0 : EndOf(index - 1);
  return bytes_.bytes.subspan(records + begin, EndOf(index) - begin);
}

Result<Introduction> Roster::At(Rank rank) const {
  RINGLET_ASSERT(Index(rank) < size_);
  Reader in(RecordOf(Index(rank)));
  Introduction introduction = DecodeIntroduction(in);
  if (!in.AtEnd())
    return Error{Code::kProtocol,
                 fmt::format("the roster's record of rank {} cannot be read", Index(rank))};
  return introduction;
}

std::string Roster::DescribeRank(Rank rank) const {
  if (Index(rank) >= size_) return fmt::format("rank {}", Index(rank));
  const auto introduction = At(rank);
  return introduction.ok() ? Describe(rank, *introduction) : fmt::format("rank {}", Index(rank));
}

}  // namespace ringlet::bootstrap
