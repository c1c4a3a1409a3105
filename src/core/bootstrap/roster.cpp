#include "bootstrap/roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/value/digest.hpp"
#include "bootstrap/difference.hpp"

namespace ringlet::bootstrap {
namespace {

// Header: tag, total bytes, digest of all that follows it, first rank, ranks, node leaders.
constexpr std::uint32_t kTag = 0x324f5252;  // "RRO2"
constexpr std::size_t kDigested = 16;       // the bytes before it are not covered by the digest
constexpr std::size_t kHeaderBytes = 28;

// Flags of a body.
constexpr std::uint8_t kDiffers = 1;  // the body is a difference from the record of the named rank
constexpr std::uint8_t kSpokenFor = 2;       // another rank checks in for it
constexpr std::uint8_t kFromNodeLeader = 4;  // the difference is from the node leader's record

struct Body {
  std::optional<std::uint32_t> node_leader = {};  // empty if the rank is its own node leader
  std::optional<std::uint32_t> base = {};
  View bytes = {};
};

std::optional<Body> ReadBody(View body) {
  Reader in(body);
  const std::uint8_t flags = in.U8();
  Body out;
  if (flags & kSpokenFor) out.node_leader = in.U32();
  if (flags & kDiffers) out.base = flags & kFromNodeLeader ? out.node_leader.value_or(0) : in.U32();
  out.bytes = in.Raw(in.remaining());
  if (!in.ok() || flags > 7 || ((flags & kFromNodeLeader) && (flags & 3) != 3)) return std::nullopt;
  return out;
}

class Builder {
 public:
  Builder(std::uint32_t first, const std::vector<RankRecord>& records)
      : first_(first), records_(records) {}

  Bytes Bodies(std::vector<std::uint32_t>& starts) {
    starts.resize(records_.size());
    for (const bool node_leaders : {true, false})
      for (std::size_t i = 0; i < records_.size(); ++i)
        if ((records_[i].node_leader == first_ + i) == node_leaders) {
          starts[i] = static_cast<std::uint32_t>(out_.size());
          Append(static_cast<std::uint32_t>(i));
        }
    return out_.Take();
  }

 private:
  bool Has(std::uint32_t rank) const { return rank - first_ < records_.size(); }

  // The node leader, or else the first rank of the host. Its record is whole, so chains have length
  // 1.
  std::optional<std::uint32_t> BaseOf(std::uint32_t index) {
    const RankRecord& record = records_[index];
    if (record.node_leader != first_ + index && Has(record.node_leader) &&
        whole_.contains(record.node_leader - first_))
      return record.node_leader - first_;
    Reader in(record.member_address);
    const auto [it, fresh] = by_host_.emplace(DecodeMemberAddress(in).host, index);
    if (fresh) return std::nullopt;
    return it->second;
  }

  void Append(std::uint32_t index) {
    const RankRecord& record = records_[index];
    const auto base = BaseOf(index);
    Bytes bytes = base ? DifferenceOf(records_[*base].member_address, record.member_address)
                       : record.member_address;
    const bool differs = base && bytes.size() < record.member_address.size();
    if (!differs) {
      bytes = record.member_address;
      whole_[index] = true;
    }
    const bool spoken_for = record.node_leader != first_ + index;
    const bool from_node_leader = differs && spoken_for && *base + first_ == record.node_leader;
    Writer body;
    body.U8(static_cast<std::uint8_t>((differs ? kDiffers : 0) | (spoken_for ? kSpokenFor : 0) |
                                      (from_node_leader ? kFromNodeLeader : 0)));
    if (spoken_for) body.U32(record.node_leader);
    if (differs && !from_node_leader) body.U32(first_ + *base);
    body.Raw(bytes);
    out_.U16(static_cast<std::uint16_t>(body.size())).Raw(body.view());
  }

  std::uint32_t first_;
  const std::vector<RankRecord>& records_;
  std::unordered_map<std::string, std::uint32_t> by_host_;
  std::unordered_map<std::uint32_t, bool> whole_;
  Writer out_;
};

// Returns each node leader once, in order of the lowest rank that it checks in.
std::vector<std::uint32_t> NodeLeadersOf(const std::vector<RankRecord>& records) {
  std::vector<std::uint32_t> node_leaders;
  std::unordered_map<std::uint32_t, bool> seen;
  for (const RankRecord& record : records)
    if (seen.emplace(record.node_leader, true).second) node_leaders.push_back(record.node_leader);
  return node_leaders;
}

}  // namespace

void Encode(Writer& out, const MemberAddress& member_address) {
  out.U8(static_cast<std::uint8_t>(member_address.addresses.size()));
  for (const Address& address : member_address.addresses) Encode(out, address);
  out.Text(member_address.host).U32(member_address.pid).Blob(member_address.peer_info);
}

MemberAddress DecodeMemberAddress(Reader& in) {
  MemberAddress member_address;
  const std::size_t count = in.U8();
  if (count > kAddressesMax) in.Fail();
  for (std::size_t i = 0; i < count && in.ok(); ++i)
    member_address.addresses.push_back(DecodeAddress(in));
  member_address.host = in.Text(kHostBytesMax);
  member_address.pid = in.U32();
  const View peer_info = in.Blob(kPeerInfoBytesMax);
  member_address.peer_info.assign(peer_info.begin(), peer_info.end());
  return member_address;
}

Result<MemberAddress> ParseMemberAddress(View record) {
  Reader in(record);
  MemberAddress member_address = DecodeMemberAddress(in);
  if (!in.AtEnd()) return Error{Code::kProtocol, "a member address that cannot be read"};
  return member_address;
}

std::string Describe(Rank rank, const MemberAddress& member_address) {
  return fmt::format("rank {} (host {}, pid {})", Index(rank), member_address.host,
                     member_address.pid);
}

std::string StoppedText(const IsStopped& is_stopped, std::string_view host, std::uint32_t pid) {
  if (!is_stopped || pid == 0 || !is_stopped(host, pid)) return "";
  return fmt::format("is stopped (by SIGSTOP or a debugger; kill -CONT {} resumes it)", pid);
}

std::string SilenceText(std::chrono::nanoseconds silence, const std::string& stopped) {
  return fmt::format(
      "no message arrived from it for {} s: {}", std::chrono::duration<double>(silence).count(),
      stopped.empty() ? "its process is stopped, or the network between is cut" : "it " + stopped);
}

Roster Roster::Build(std::uint32_t first, const std::vector<RankRecord>& records) {
  std::vector<std::uint32_t> starts;
  const Bytes bodies = Builder(first, records).Bodies(starts);
  const std::vector<std::uint32_t> node_leaders = NodeLeadersOf(records);
  Writer rest;
  rest.U32(first).U32(static_cast<std::uint32_t>(records.size()));
  rest.U32(static_cast<std::uint32_t>(node_leaders.size()));
  for (const std::uint32_t node_leader : node_leaders) rest.U32(node_leader);
  for (const std::uint32_t start : starts) rest.U32(start);
  rest.Raw(bodies);
  Writer whole;
  whole.U32(kTag).U32(static_cast<std::uint32_t>(kDigested + rest.size()));
  whole.U64(BulkDigestOf(rest.view())).Raw(rest.view());
  Roster roster;
  roster.bytes_ = Slice(Share(whole.Take()));
  const Status read = roster.ReadHead(roster.bytes_.bytes);
  RINGLET_ASSERT(read.ok());
  std::vector<std::uint32_t> by_rank;
  by_rank.reserve(records.size());
  for (const RankRecord& record : records) by_rank.push_back(record.node_leader);
  roster.LayOut(by_rank);
  return roster;
}

Status Roster::ReadHead(View prefix) {
  Reader in(prefix);
  const std::uint32_t tag = in.U32();
  total_ = in.U32();
  digest_ = in.U64();
  first_ = in.U32();
  size_ = in.U32();
  node_leaders_ = in.U32();
  if (!in.ok() || tag != kTag) return Error{Code::kProtocol, "the data are not a roster"};
  const std::uint64_t least = kHeaderBytes + 4 * (std::uint64_t{node_leaders_} + size_);
  if (total_ > kRosterBytesMax || least > total_ || first_ + size_ < first_ || size_ == 0 ||
      node_leaders_ == 0 || node_leaders_ > size_)
    return Error{Code::kProtocol, "the roster's numbers contradict each other"};
  return Ok();
}

Result<Roster> Roster::Parse(const Slice& bytes) {
  Roster roster;
  RINGLET_TRY(roster.ReadHead(bytes.bytes));
  if (bytes.bytes.size() != roster.total_)
    return Error{Code::kProtocol, "the roster is cut short or too long"};
  if (BulkDigestOf(bytes.bytes.subspan(kDigested)) != roster.digest_)
    return Error{Code::kProtocol, "the roster is damaged: its digest does not fit"};
  roster.bytes_ = bytes.Owned();
  RINGLET_TRY(roster.CheckBodies());
  return roster;
}

Status Roster::CheckBodies() {
  std::vector<std::uint32_t> node_leaders;
  node_leaders.reserve(size_);
  for (std::uint32_t index = 0; index < size_; ++index) {
    const auto body = BodyAt(index);
    const auto read = body ? ReadBody(*body) : std::nullopt;
    if (!read) return Error{Code::kProtocol, "the roster's index does not fit its records"};
    if (read->base && (*read->base - first_ >= size_ || *read->base == first_ + index))
      return Error{Code::kProtocol, "a record of the roster is based on a missing record"};
    node_leaders.push_back(read->node_leader.value_or(first_ + index));
  }
  LayOut(node_leaders);
  return Ok();
}

void Roster::LayOut(std::span<const std::uint32_t> node_leaders) {
  if (first_ != 0) return;
  tree_ = std::make_shared<ControlTree>(std::make_shared<TreeLayout>(node_leaders));
}

// Returns empty if the body has not arrived or lies outside the buffer.
std::optional<View> Roster::BodyAt(std::uint32_t index) const {
  const std::size_t starts = kHeaderBytes + std::size_t{4} * node_leaders_;
  const std::size_t bodies = starts + std::size_t{4} * size_;
  const std::size_t place = starts + std::size_t{4} * index;
  if (bytes_.bytes.size() < place + 4) return std::nullopt;
  const std::size_t at = bodies + Reader(bytes_.bytes.subspan(place, 4)).U32();
  if (bytes_.bytes.size() < at + 2) return std::nullopt;
  Reader in(bytes_.bytes.subspan(at));
  const View body = in.Raw(in.U16());
  if (!in.ok()) return std::nullopt;
  return body;
}

Rank Roster::NodeLeader(std::uint32_t index) const {
  RINGLET_ASSERT(index < node_leaders_);
  return Rank{Reader(bytes_.bytes.subspan(kHeaderBytes + std::size_t{4} * index, 4)).U32()};
}

Result<Rank> Roster::NodeLeaderOf(Rank rank) const {
  RINGLET_ASSERT(Index(rank) - first_ < size());
  if (survivors_) return Rank{tree_->TopOf(Index(rank))};
  const auto body = BodyAt(Index(rank) - first_);
  const auto read = body ? ReadBody(*body) : std::nullopt;
  if (!read) return Error{Code::kProtocol, "the roster has a broken record"};
  return Rank{read->node_leader.value_or(Index(rank))};
}

Result<Bytes> Roster::RecordAt(Rank rank) const {
  RINGLET_ASSERT(Index(rank) - first_ < size());
  const auto bad = [&] {
    return Error{Code::kProtocol,
                 fmt::format("the roster's record of rank {} cannot be read", Index(rank))};
  };
  const auto body = BodyAt(Recorded(rank) - first_);
  const auto read = body ? ReadBody(*body) : std::nullopt;
  if (!read) return bad();
  if (!read->base) return Bytes(read->bytes.begin(), read->bytes.end());
  if (*read->base - first_ >= size_) return bad();
  const auto base_body = BodyAt(*read->base - first_);
  const auto base = base_body ? ReadBody(*base_body) : std::nullopt;
  if (!base || base->base) return bad();
  return ApplyDifference(base->bytes, read->bytes, kRecordBytesMax);
}

Result<MemberAddress> Roster::At(Rank rank) const {
  RINGLET_TRY_ASSIGN(const Bytes record, RecordAt(rank));
  auto member_address = ParseMemberAddress(record);
  if (member_address.ok()) return member_address;
  return Error{Code::kProtocol,
               fmt::format("the roster's record of rank {} cannot be read", Index(rank))};
}

std::string Roster::DescribeRank(Rank rank) const {
  if (Index(rank) - first_ >= size()) return fmt::format("rank {}", Index(rank));
  const auto member_address = At(rank);
  return member_address.ok() ? Describe(rank, *member_address)
                             : fmt::format("rank {}", Index(rank));
}

std::string Roster::StoppedText(Rank rank, const IsStopped& is_stopped) const {
  if (Index(rank) - first_ >= size()) return "";
  const auto address = At(rank);
  return address.ok() ? bootstrap::StoppedText(is_stopped, address->host, address->pid)
                      : std::string();
}

TreePlace Roster::PlaceOf(Rank rank, std::uint32_t arity) const {
  RINGLET_ASSERT(tree_ && Index(rank) < size());
  return tree_->PlaceOf(Index(rank), arity);
}

Successors Roster::SuccessorsOf(Rank rank) const {
  RINGLET_ASSERT(tree_ && Index(rank) < size());
  return tree_->SuccessorsOf(Index(rank));
}

Roster Roster::Without(std::shared_ptr<const Survivors> survivors) const {
  RINGLET_ASSERT(tree_ && survivors->size() > 0);
  Roster roster = *this;
  roster.tree_ = std::make_shared<ControlTree>(tree_->layout(), survivors);
  roster.survivors_ = std::move(survivors);
  return roster;
}

Result<Roster> Roster::Subset(const std::vector<std::uint32_t>& ranks) const {
  // The first of the chosen ranks with one node leader becomes their node leader.
  std::unordered_map<std::uint32_t, std::uint32_t> node_leader;
  std::vector<RankRecord> records;
  records.reserve(ranks.size());
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    RankRecord record;
    RINGLET_TRY_ASSIGN(record.member_address, RecordAt(Rank{ranks[i]}));
    RINGLET_TRY_ASSIGN(const Rank spoke, NodeLeaderOf(Rank{ranks[i]}));
    record.node_leader = node_leader.emplace(Index(spoke), i).first->second;
    records.push_back(std::move(record));
  }
  return Build(0, records);
}

// ---- sharing ----------------------------------------------------------------------------------

Result<Roster> RosterCache::Adopt(const Slice& bytes) {
  std::erase_if(entries_, [](const Entry& entry) { return entry.alive.expired(); });
  for (const Entry& entry : entries_) {
    const View known = entry.roster.bytes_.bytes;
    const bool same = known.size() == bytes.bytes.size() &&
                      (known.data() == bytes.bytes.data() ||
                       std::memcmp(known.data(), bytes.bytes.data(), known.size()) == 0);
    if (!same) continue;
    Roster roster = entry.roster;
    roster.bytes_.owner = entry.alive.lock();
    roster.tree_ = entry.tree.lock();
    if (roster.first_ == 0 && !roster.tree_) break;  // only the bytes are still in use
    return roster;
  }
  RINGLET_TRY_ASSIGN(Roster roster, Roster::Parse(bytes));
  Entry entry{roster.bytes_.owner, roster.tree_, roster};
  entry.roster.bytes_.owner.reset();
  entry.roster.tree_.reset();
  entries_.push_back(std::move(entry));
  return roster;
}

// ---- receiving ---------------------------------------------------------------------------------

Slice RosterInbox::view() const {
  return copied_ ? Slice(View(*copied_), copied_) : Slice(so_far_, owner_);
}

Status RosterInbox::Push(const Slice& piece) {
  const bool beside =
      owner_ && piece.owner == owner_ && piece.bytes.data() == so_far_.data() + so_far_.size();
  if (so_far_.empty() && piece.owner) {
    owner_ = piece.owner;
    so_far_ = piece.bytes;
  } else if (!copied_ && beside) {
    so_far_ = View(so_far_.data(), so_far_.size() + piece.bytes.size());
  } else {
    if (!copied_) copied_ = std::make_shared<Bytes>(so_far_.begin(), so_far_.end());
    copied_->insert(copied_->end(), piece.bytes.begin(), piece.bytes.end());
    so_far_ = *copied_;
    owner_.reset();
  }
  if (!head_ && so_far_.size() >= kHeaderBytes) {
    RINGLET_TRY(partial_.ReadHead(so_far_));
    head_ = true;
    if (copied_) copied_->reserve(partial_.total_);
    if (copied_) so_far_ = *copied_;  // reserve() may have moved the buffer
  }
  if (head_ && so_far_.size() > partial_.total_)
    return Error{Code::kProtocol, "more bytes of the roster than its length"};
  partial_.bytes_ = Slice(so_far_);
  return Ok();
}

std::optional<std::uint32_t> RosterInbox::node_leader_count() const {
  if (!head_) return std::nullopt;
  return partial_.node_leaders_;
}

Result<std::optional<std::pair<Rank, MemberAddress>>> RosterInbox::FindNodeLeader(
    std::uint32_t index) const {
  using Found = std::optional<std::pair<Rank, MemberAddress>>;
  if (!head_ || index >= partial_.node_leaders_ ||
      so_far_.size() < kHeaderBytes + std::size_t{4} * (index + 1))
    return Found();
  const Rank rank = partial_.NodeLeader(index);
  if (Index(rank) - partial_.first_ >= partial_.size_)
    return Error{Code::kProtocol, "the roster names a node leader that it does not contain"};
  if (!complete() && !partial_.RecordAt(rank).ok()) return Found();
  RINGLET_TRY_ASSIGN(MemberAddress member_address, partial_.At(rank));
  return Found(std::pair(rank, std::move(member_address)));
}

Result<Roster> RosterInbox::Finish(RosterCache* roster_cache) {
  RINGLET_ASSERT(complete());
  return roster_cache ? roster_cache->Adopt(view()) : Roster::Parse(view());
}

}  // namespace ringlet::bootstrap
