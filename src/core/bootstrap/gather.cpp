#include "bootstrap/gather.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {
namespace {

// Parses entries on their way up the tree: a u32 rank and a Blob each. Calls `each` for every
// entry. Returns false if `each` does, or if the entries are cut short.
template <typename Each>
bool ForEntries(View entries, Each each) {
  Reader in(entries);
  while (in.remaining() > 0) {
    const std::uint32_t rank = in.U32();
    const View entry = in.Blob(in.remaining());
    if (!in.ok() || !each(rank, entry)) return false;
  }
  return true;
}

Error Mismatch(const std::string& who, const GatherHeader& theirs, const GatherHeader& ours,
               std::uint32_t self) {
  const auto text = [](const GatherHeader& header) {
    return fmt::format("{} {}", header.barrier ? "barrier" : "all-gather", header.sequence);
  };
  if (theirs.group_digest != ours.group_digest)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} has another list of this communicator's ranks than rank {}: their "
                             "calls must name the same ranks to keep or to leave out",
                             who, self)};
  return Error{Code::kProtocol,
               fmt::format("{} is in {} of the control network, rank {} in {}: the ranks do "
                           "not call the same operations in the same order",
                           who, text(theirs), self, text(ours))};
}

}  // namespace

Bytes Table::Join(const std::vector<View>& entries) {
  Writer out;
  std::uint32_t end = 0;
  for (const View entry : entries) out.U32(end += static_cast<std::uint32_t>(entry.size()));
  for (const View entry : entries) out.Raw(entry);
  return out.Take();
}

Result<Table> Table::Parse(const Slice& bytes, std::uint32_t count) {
  Table table;
  table.bytes_ = bytes.Owned();
  table.size_ = count;
  const std::size_t index_bytes = std::size_t{4} * count;
  const auto bad = [&] {
    return Error{Code::kProtocol, fmt::format("a table without exactly {} entries", count)};
  };
  if (bytes.bytes.size() < index_bytes) return bad();
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < count; before = table.EndOf(i++))
    if (table.EndOf(i) < before) return bad();
  if (before != bytes.bytes.size() - index_bytes) return bad();
  return table;
}

std::uint32_t Table::EndOf(std::uint32_t index) const {
  return Reader(bytes_.bytes.subspan(std::size_t{4} * index, 4)).U32();
}

View Table::At(Rank rank) const {
  RINGLET_ASSERT(Index(rank) < size_);
  const std::uint32_t begin = Index(rank) == 0 ? 0 : EndOf(Index(rank) - 1);
  return bytes_.bytes.subspan(std::size_t{4} * size_ + begin, EndOf(Index(rank)) - begin);
}

void Encode(Writer& out, const GatherHeader& header) {
  out.U32(header.sequence).U8(header.barrier ? 1 : 0).U64(header.group_digest);
}

GatherHeader DecodeGatherHeader(Reader& in) {
  GatherHeader header;
  header.sequence = in.U32();
  header.barrier = in.U8() != 0;
  header.group_digest = in.U64();
  return header;
}

// The difference counts, because sequence numbers may wrap around.
bool IsOver(const GatherHeader& header, const GatherHeader& current) {
  return header.group_digest == current.group_digest &&
         static_cast<std::int32_t>(header.sequence - current.sequence) < 0;
}

// ---- tree -------------------------------------------------------------------------------------

TreeGather::TreeGather(std::uint32_t self, std::uint32_t size, std::uint64_t group_digest,
                       TreePlace place)
    : self_(self),
      size_(size),
      place_(std::move(place)),
      current_{1, false, group_digest},
      from_child_(place_.children.size()) {}

Status TreeGather::Start(bool barrier, Bytes payload) {
  RINGLET_ASSERT(!running_ && !result_);
  running_ = true;
  sent_up_ = false;
  current_.barrier = barrier;
  own_ = std::move(payload);
  return Advance();
}

Status TreeGather::OnChild(std::uint32_t child, const Slice& payload) {
  const auto at = std::ranges::find(place_.children, child) - place_.children.begin();
  auto& slot = from_child_[static_cast<std::size_t>(at)];
  Reader in(payload.bytes);
  const GatherHeader header = DecodeGatherHeader(in);
  GatherHeader expected = current_;
  if (!running_) expected.barrier = header.barrier;
  if (in.ok() && IsOver(header, current_)) return Ok();
  if (!in.ok() || header != expected) return Mismatch("it", header, expected, self_);
  if (slot || (running_ && sent_up_)) return Ok();
  const View entries = payload.bytes.subspan(kGatherHeaderBytes);
  const auto fits = [&](std::uint32_t rank, View) { return rank < size_ && !header.barrier; };
  if (!ForEntries(entries, fits))
    return Error{Code::kProtocol, "its entries do not match its subtree"};
  slot = payload.Owned();
  return Advance();
}

Status TreeGather::Advance() {
  if (!running_ || sent_up_ || std::ranges::any_of(from_child_, [](const auto& c) { return !c; }))
    return Ok();
  Writer entries;
  if (!current_.barrier) entries.U32(self_).Blob(own_);
  for (std::size_t i = 0; i < from_child_.size(); ++i) {
    Reader in(from_child_[i]->bytes);
    if (const GatherHeader header = DecodeGatherHeader(in); header != current_)
      return Mismatch(fmt::format("rank {}", place_.children[i]), header, current_, self_);
    entries.Raw(from_child_[i]->bytes.subspan(kGatherHeaderBytes));
    from_child_[i].reset();
  }
  sent_up_ = true;
  if (!place_.parent) return JoinEntries(entries.view());
  Writer out;
  Encode(out, current_);
  upward_ = out.Raw(entries.view()).Take();
  return Ok();
}

Status TreeGather::JoinEntries(View entries) {
  std::vector<View> by_rank(current_.barrier ? 0 : size_);
  std::vector<bool> seen(by_rank.size());
  std::size_t count = 0;
  const bool once = ForEntries(entries, [&](std::uint32_t rank, View entry) {
    if (seen[rank]) return false;
    seen[rank] = true;
    by_rank[rank] = entry;
    ++count;
    return true;
  });
  if (!once || count != by_rank.size())
    return Error{Code::kProtocol, "the entry of a rank is missing or duplicate"};
  Writer out;
  Encode(out, current_);
  return Complete(Slice(Share(out.Raw(Table::Join(by_rank)).Take())));
}

Status TreeGather::OnParent(const Slice& payload) {
  Reader in(payload.bytes);
  const GatherHeader header = DecodeGatherHeader(in);
  if (in.ok() && IsOver(header, current_)) return Ok();
  if (!in.ok() || !running_ || !sent_up_ || header != current_)
    return Mismatch("it", header, current_, self_);
  return Complete(payload.Owned());
}

Status TreeGather::Complete(const Slice& table) {
  const Slice entries(table.bytes.subspan(kGatherHeaderBytes), table.owner);
  auto parsed = Table::Parse(entries, current_.barrier ? 0 : size_);
  if (!parsed.ok()) return std::move(parsed).error();
  downward_ = table;
  result_ = std::move(*parsed);
  running_ = false;
  ++current_.sequence;
  return Ok();
}

std::vector<std::uint32_t> TreeGather::AwaitedRanks() const {
  if (!running_) return {};
  if (sent_up_) return {place_.parent.value()};
  std::vector<std::uint32_t> ranks;
  for (std::size_t i = 0; i < from_child_.size(); ++i)
    if (!from_child_[i]) ranks.push_back(place_.children[i]);
  return ranks;
}

std::string TreeGather::Awaited() const {
  if (sent_up_ && place_.parent) return fmt::format("the answer of rank {}", *place_.parent);
  std::string text;
  for (std::size_t i = 0; i < from_child_.size(); ++i)
    if (!from_child_[i])
      text += fmt::format("{}rank {} or the ranks below it", text.empty() ? "" : ", ",
                          place_.children[i]);
  return text.empty() ? "no rank" : text;
}

// ---- ring -------------------------------------------------------------------------------------

Status RingGather::Start(bool barrier, Bytes payload) {
  RINGLET_ASSERT(!running_ && !result_);
  GatherHeader ours = current_;
  ours.barrier = barrier;
  if (known_ > 0 && current_ != ours)
    return Mismatch(fmt::format("rank {}", (self_ + size_ - 1) % size_), current_, ours, self_);
  running_ = true;
  current_ = ours;
  return Store(self_, std::move(payload));
}

Status RingGather::OnPrevious(const Slice& payload) {
  Reader in(payload.bytes);
  const GatherHeader header = DecodeGatherHeader(in);
  const std::uint32_t origin = in.U32();
  GatherHeader expected = current_;
  if (!running_) expected.barrier = header.barrier;
  if (in.ok() && IsOver(header, current_)) return Ok();
  if (!in.ok() || header != expected) return Mismatch("it", header, expected, self_);
  current_.barrier = header.barrier;
  if (origin < size_ && origin != self_ && blocks_[origin]) return Ok();
  if (origin >= size_ || origin == self_)
    return Error{Code::kProtocol,
                 fmt::format("it forwarded a block of rank {}, which is impossible", origin)};
  const View block = in.Raw(in.remaining());
  return Store(origin, Bytes(block.begin(), block.end()));
}

Status RingGather::Store(std::uint32_t origin, Bytes block) {
  if (origin != (self_ + 1) % size_) {  // the next rank has its own block
    Writer out;
    Encode(out, current_);
    out.U32(origin).Raw(block);
    forward_.push_back(out.Take());
  }
  blocks_[origin] = std::move(block);
  if (++known_ < size_) return Ok();
  std::vector<View> entries;
  for (const std::optional<Bytes>& one : blocks_) entries.emplace_back(*one);
  auto table = Table::Parse(Slice(Share(Table::Join(entries))), size_);
  if (!table.ok()) return std::move(table).error();
  result_ = std::move(*table);
  blocks_.assign(size_, std::nullopt);
  known_ = 0;
  running_ = false;
  ++current_.sequence;
  return Ok();
}

std::string RingGather::Awaited() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < size_; ++rank)
    if (!blocks_[rank]) missing.push_back(rank);
  if (missing.empty()) return "no rank";
  // Blocks arrive from the previous rank, so the nearest missing block delays those behind it.
  for (std::uint32_t distance = 1; distance < size_; ++distance) {
    const std::uint32_t rank = (self_ + size_ - distance) % size_;
    if (!blocks_[rank]) return fmt::format("rank {} ({} entries missing)", rank, missing.size());
  }
  return fmt::format("rank {}", missing.front());
}

}  // namespace ringlet::bootstrap
