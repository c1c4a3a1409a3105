#include "bootstrap/gather.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {
namespace {

// Splits `entries` into `count` views; empty when they are not exactly so many.
std::optional<std::vector<View>> Split(View entries, std::uint32_t count) {
  std::vector<View> views;
  views.reserve(std::min<std::size_t>(count, entries.size() / 4));
  Reader in(entries);
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) views.push_back(in.Blob(in.remaining()));
  if (!in.AtEnd()) return std::nullopt;
  return views;
}

Error Mismatch(const std::string& who, const GatherHeader& theirs, const GatherHeader& ours) {
  const auto text = [](const GatherHeader& header) {
    return fmt::format("{} {}", header.barrier ? "barrier" : "all-gather", header.sequence);
  };
  return Error{Code::kProtocol,
               fmt::format("{} is in {} of the control network, this rank in {}: the ranks "
                           "do not call the same operations in the same order",
                           who, text(theirs), text(ours))};
}

}  // namespace

Result<Table> Table::Parse(Slice entries, std::uint32_t count) {
  Table table;
  table.entries_ = entries.Owned();
  auto views = Split(table.entries_.bytes, count);
  if (!views) return Error{Code::kProtocol, fmt::format("a table that has not {} entries", count)};
  table.views_ = std::move(*views);
  return table;
}

void Encode(Writer& out, const GatherHeader& header) {
  out.U32(header.sequence).U8(header.barrier ? 1 : 0);
}

GatherHeader DecodeGatherHeader(Reader& in) {
  GatherHeader header;
  header.sequence = in.U32();
  header.barrier = in.U8() != 0;
  return header;
}

// ---- tree -------------------------------------------------------------------------------------

Status TreeGather::Start(bool barrier, Bytes payload) {
  RINGLET_ASSERT(!running_ && !result_);
  running_ = true;
  sent_up_ = false;
  current_.barrier = barrier;
  own_ = std::move(payload);
  return Advance();
}

Status TreeGather::OnChild(std::size_t child, const Slice& payload) {
  Reader in(payload.bytes);
  const GatherHeader header = DecodeGatherHeader(in);
  const GatherHeader expected{current_.sequence, running_ ? current_.barrier : header.barrier};
  if (!in.ok() || header != expected) return Mismatch("it", header, expected);
  if (from_child_[child]) return Error{Code::kProtocol, "it sent its entries twice"};
  const View entries = payload.bytes.subspan(kGatherHeaderBytes);
  if (!Split(entries, header.barrier ? 0 : place_.children[child].count))
    return Error{Code::kProtocol, "its entries are not those of its subtree"};
  from_child_[child] = payload.Owned();
  return Advance();
}

Status TreeGather::Advance() {
  if (!running_ || sent_up_ || std::ranges::any_of(from_child_, [](const auto& c) { return !c; }))
    return Ok();
  Writer out;
  Encode(out, current_);
  if (!current_.barrier) out.Blob(own_);
  for (std::size_t i = 0; i < from_child_.size(); ++i) {
    Reader in(from_child_[i]->bytes);
    if (const GatherHeader header = DecodeGatherHeader(in); header != current_)
      return Mismatch(fmt::format("rank {}", place_.children[i].first), header, current_);
    out.Raw(from_child_[i]->bytes.subspan(kGatherHeaderBytes));
    from_child_[i].reset();
  }
  sent_up_ = true;
  if (place_.parent) {
    upward_ = out.Take();
    return Ok();
  }
  return Complete(Slice(Share(out.Take())));
}

Status TreeGather::OnParent(const Slice& payload) {
  Reader in(payload.bytes);
  const GatherHeader header = DecodeGatherHeader(in);
  if (!in.ok() || !running_ || !sent_up_ || header != current_)
    return Mismatch("it", header, current_);
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

std::string TreeGather::Awaited() const {
  std::string text;
  for (std::size_t i = 0; i < from_child_.size(); ++i) {
    if (from_child_[i]) continue;
    const RankRange& range = place_.children[i];
    text += text.empty() ? "" : ", ";
    text += range.count == 1 ? fmt::format("rank {}", range.first)
                             : fmt::format("ranks {}-{} through rank {}", range.first,
                                           range.first + range.count - 1, range.first);
  }
  if (sent_up_ && place_.parent) return fmt::format("the answer of rank {}", Index(*place_.parent));
  return text.empty() ? "nobody" : text;
}

// ---- ring -------------------------------------------------------------------------------------

Status RingGather::Start(bool barrier, Bytes payload) {
  RINGLET_ASSERT(!running_ && !result_);
  const GatherHeader ours{current_.sequence, barrier};
  if (known_ > 0 && current_ != ours)
    return Mismatch(fmt::format("rank {}", (self_ + size_ - 1) % size_), current_, ours);
  running_ = true;
  current_ = ours;
  return Store(self_, std::move(payload));
}

Status RingGather::OnPrevious(const Slice& payload) {
  Reader in(payload.bytes);
  const GatherHeader header = DecodeGatherHeader(in);
  const std::uint32_t origin = in.U32();
  const GatherHeader expected{current_.sequence, running_ ? current_.barrier : header.barrier};
  if (!in.ok() || header != expected) return Mismatch("it", header, expected);
  current_.barrier = header.barrier;
  if (origin >= size_ || origin == self_ || blocks_[origin])
    return Error{Code::kProtocol,
                 fmt::format("it passed on a block of rank {} that cannot be", origin)};
  const View block = in.Raw(in.remaining());
  return Store(origin, Bytes(block.begin(), block.end()));
}

Status RingGather::Store(std::uint32_t origin, Bytes block) {
  if (origin != (self_ + 1) % size_) {  // the next rank has its own
    Writer out;
    Encode(out, current_);
    out.U32(origin).Raw(block);
    forward_.push_back(out.Take());
  }
  blocks_[origin] = std::move(block);
  if (++known_ < size_) return Ok();
  Writer entries;
  for (std::optional<Bytes>& one : blocks_) {
    entries.Blob(*one);
    one.reset();
  }
  auto table = Table::Parse(Slice(Share(entries.Take())), size_);
  if (!table.ok()) return std::move(table).error();
  result_ = std::move(*table);
  known_ = 0;
  running_ = false;
  ++current_.sequence;
  return Ok();
}

std::string RingGather::Awaited() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < size_; ++rank)
    if (!blocks_[rank]) missing.push_back(rank);
  if (missing.empty()) return "nobody";
  // Blocks come from behind: the nearest missing one holds up those beyond it.
  for (std::uint32_t distance = 1; distance < size_; ++distance) {
    const std::uint32_t rank = (self_ + size_ - distance) % size_;
    if (!blocks_[rank]) return fmt::format("rank {} ({} entries missing)", rank, missing.size());
  }
  return fmt::format("rank {}", missing.front());
}

}  // namespace ringlet::bootstrap
