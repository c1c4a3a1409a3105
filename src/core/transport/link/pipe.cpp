#include "transport/link/pipe.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "transport/link/copy.hpp"

namespace ringlet::transport {
namespace {

// Returns the number of bytes to copy before publishing them to the other side.
std::size_t PieceBytes(std::size_t ring_bytes) {
  constexpr std::size_t kPiecesPerRing = 8;
  constexpr std::size_t kPieceBytesMax = 32 << 10;
  return std::clamp<std::size_t>(ring_bytes / kPiecesPerRing, 64, kPieceBytesMax);
}

Error Corrupt(const char* whose) {
  return Error{Code::kProtocol,
               std::string("the ") + whose + "'s count in a shared pipe is impossible"};
}

}  // namespace

PipePlace PipePlace::At(std::span<std::byte> memory, std::size_t ring_bytes) {
  RINGLET_ASSERT(IsPipeSize(ring_bytes) && memory.size() >= PipeFootprint(ring_bytes));
  RINGLET_ASSERT(reinterpret_cast<std::uintptr_t>(memory.data()) % alignof(PipeHeader) == 0);
  // Both sides see the same zero bytes. Lock-free atomics need no further construction, and
  // constructing them would erase data that the other side has already written.
  auto* const header = std::launder(reinterpret_cast<PipeHeader*>(memory.data()));
  return PipePlace{header, memory.subspan(sizeof(PipeHeader), ring_bytes)};
}

// ---- writer -----------------------------------------------------------------------------------

Result<std::size_t> PipeWriter::Write(View head, View data) {
  const std::size_t all = head.size() + data.size();
  RINGLET_TRY_ASSIGN(std::size_t done, head.empty() ? Push(data) : PushBoth(head, data));
  if (done == all) return done;
  while (done < all) {
    // Stores the wish before the counter is read again. If the reader frees room after that read,
    // it sees the wish. (The same argument as in doorbell.hpp.)
    RequestSpace(all - done);
    RINGLET_TRY_ASSIGN(const std::size_t more, done < head.size()
                                                   ? PushBoth(head.subspan(done), data)
                                                   : Push(data.subspan(done - head.size())));
    if (more == 0) return done;
    done += more;
  }
  place_.header->room_wanted_bytes.store(0, std::memory_order_relaxed);
  return done;
}

bool PipeWriter::WriteWhole(View head, View data) {
  const std::size_t all = head.size() + data.size();
  if (place_.ring.size() - (written_bytes_ - read_bytes_seen_) < all) return false;
  const std::size_t at = written_bytes_ & (place_.ring.size() - 1);
  if (place_.ring.size() - at < all) return false;
  std::byte* const to = place_.ring.data() + at;
  std::memcpy(to, head.data(), head.size());
  if (!data.empty()) Copy(data, to + head.size());
  written_bytes_ += all;
  if (all <= kPipeRecentBytes) ShowRecent({to, all});
  Publish();
  return true;
}

void PipeWriter::RequestSpace(std::size_t bytes) {
  // Waking the writer for each freed byte would cost more than it gains. The writer can sleep until
  // a quarter of the ring is free, because the reader frees all bytes before it waits itself.
  const std::size_t wanted = std::min(bytes, place_.ring.size() / 4);
  place_.header->room_wanted_bytes.store(static_cast<std::uint32_t>(wanted));
}

// Returns the number of free bytes. Rereads the reader's counter if fewer than `wanted` seem free.
Result<std::size_t> PipeWriter::Room(std::size_t wanted) {
  const std::size_t ring_bytes = place_.ring.size();
  std::uint64_t used = written_bytes_ - read_bytes_seen_;
  if (ring_bytes - used < wanted) {
    const std::uint64_t seen = place_.header->read_bytes.load();
    used = written_bytes_ - seen;
    if (used > ring_bytes) return Corrupt("reader");
    read_bytes_seen_ = seen;
  }
  return ring_bytes - used;
}

void PipeWriter::CopyIn(View piece, std::byte* to) {
  if (stream_ != nullptr && piece.size() >= kStreamedCopyMin) return stream_(piece, to);
  Copy(piece, to);
}

void PipeWriter::CountMessage(bool timed) {
  ++messages_;
  if (!timed) return;
  timed_ = messages_;
  place_.header->timed.store(timed_, std::memory_order_relaxed);  // published with the message
}

std::optional<ReceiveTimes> PipeWriter::TimesOfReader() const {
  const PipeHeader& header = *place_.header;
  if (header.received.load(std::memory_order_acquire) != timed_) return std::nullopt;
  return ReceiveTimes{header.received_from.load(std::memory_order_relaxed),
                      header.received_until.load(std::memory_order_relaxed)};
}

// Copies `piece` without publishing it. \pre  There is room.
void PipeWriter::Append(View piece) {
  if (piece.empty()) return;  // may lack an address, which memcpy does not allow
  const std::size_t at = written_bytes_ & (place_.ring.size() - 1);
  const std::size_t first = std::min(piece.size(), place_.ring.size() - at);
  CopyIn(piece.first(first), place_.ring.data() + at);
  if (first < piece.size()) CopyIn(piece.subspan(first), place_.ring.data());
  written_bytes_ += piece.size();
}

void PipeWriter::Publish() {
  place_.header->written_bytes.store(written_bytes_);
  reader_.Ring();
}

Result<std::size_t> PipeWriter::Push(View data) {
  std::size_t done = 0;
  while (done < data.size()) {
    const std::size_t wanted = std::min(data.size() - done, PieceBytes(place_.ring.size()));
    RINGLET_TRY_ASSIGN(const std::size_t room, Room(wanted));
    if (room == 0) return done;
    const View piece = data.subspan(done, std::min(wanted, room));
    Append(piece);
    if (piece.size() <= kPipeRecentBytes) ShowRecent(piece);
    Publish();
    done += piece.size();
  }
  return done;
}

Result<std::size_t> PipeWriter::PushBoth(View head, View data) {
  const std::size_t piece = std::min(data.size(), PieceBytes(place_.ring.size()));
  RINGLET_TRY_ASSIGN(const std::size_t room, Room(head.size() + piece));
  if (room <= head.size()) return Push(head);
  Append(head);
  const std::size_t now = std::min(piece, room - head.size());
  Append(data.first(now));
  Publish();
  if (now < piece) return head.size() + now;
  RINGLET_TRY_ASSIGN(const std::size_t more, Push(data.subspan(now)));
  return head.size() + now + more;
}

// A reader that finds the same end before and after its reads has not seen a mixture: the zero was
// stored before any new word that it could have read.
void PipeWriter::ShowRecent(View piece) {
  PipeHeader& header = *place_.header;
  std::array<std::uint64_t, kPipeRecentBytes / 8> words = {};
  std::memcpy(words.data(), piece.data(), piece.size());
  header.recent_end.store(0, std::memory_order_relaxed);
  header.recent_bytes.store(piece.size(), std::memory_order_release);
  for (std::size_t i = 0; i < words.size(); ++i)
    header.recent[i].store(words[i], std::memory_order_release);
  header.recent_end.store(written_bytes_, std::memory_order_release);
}

std::optional<bool> PipeWriter::TakeAck() const {
  const std::uint32_t answers = place_.header->answers.load();
  if (answers >> 1 != (offers_ & (~0u >> 1))) return std::nullopt;
  return (answers & 1) != 0;
}

void PipeWriter::Close() {
  place_.header->writer_closed.store(1);
  reader_.Ring();
}

// ---- reader -----------------------------------------------------------------------------------

Status PipeReader::Look() {
  const std::uint64_t seen = place_.header->written_bytes.load();
  if (seen - read_bytes_ > place_.ring.size()) return Corrupt("writer");
  written_bytes_seen_ = seen;
  return Ok();
}

View PipeReader::Front() const {
  const std::size_t ring_bytes = place_.ring.size();
  const std::size_t at = read_bytes_ & (ring_bytes - 1);
  const std::size_t arrived = written_bytes_seen_ - read_bytes_;
  return View(place_.ring).subspan(at, std::min(arrived, ring_bytes - at));
}

Result<View> PipeReader::Peek() {
  RINGLET_TRY(Look());
  return Front();
}

void PipeReader::ShowTimes(const ReceiveTimes& times) {
  PipeHeader& header = *place_.header;
  header.received_from.store(times.from, std::memory_order_relaxed);
  header.received_until.store(times.until, std::memory_order_relaxed);
  header.received.store(messages_, std::memory_order_release);
}

void PipeReader::Consume(std::size_t bytes) {
  if (bytes == 0) return;
  RINGLET_ASSERT(bytes <= written_bytes_seen_ - read_bytes_);
  read_bytes_ += bytes;
  PipeHeader& header = *place_.header;
  header.read_bytes.store(read_bytes_);
  const std::uint32_t wanted = header.room_wanted_bytes.load();
  if (wanted == 0) return;
  const std::uint64_t used = header.written_bytes.load() - read_bytes_;
  const std::uint64_t room = place_.ring.size() - std::min<std::uint64_t>(used, place_.ring.size());
  if (room >= wanted && header.room_wanted_bytes.exchange(0) != 0) writer_.Ring();
}

// Copies all arrived bytes from beside the counter, if they are there.
bool PipeReader::ReadRecent(std::span<std::byte> out) const {
  const PipeHeader& header = *place_.header;
  if (header.recent_end.load(std::memory_order_acquire) != written_bytes_seen_ ||
      header.recent_bytes.load(std::memory_order_acquire) != out.size())
    return false;
  std::array<std::uint64_t, kPipeRecentBytes / 8> words;
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = header.recent[i].load(std::memory_order_acquire);
  if (header.recent_end.load(std::memory_order_acquire) != written_bytes_seen_) return false;
  std::memcpy(out.data(), words.data(), out.size());
  return true;
}

Result<std::size_t> PipeReader::Read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    if (written_bytes_seen_ == read_bytes_) RINGLET_TRY(Look());
    const std::uint64_t arrived = written_bytes_seen_ - read_bytes_;
    if (arrived > 0 && arrived <= std::min(kPipeRecentBytes, out.size() - done) &&
        ReadRecent(out.subspan(done, arrived))) {
      Consume(arrived);
      return done + arrived;
    }
    const View front = Front();
    if (front.empty()) return done;
    const std::size_t piece =
        std::min({front.size(), out.size() - done, PieceBytes(place_.ring.size())});
    Copy(front.first(piece), out.data() + done);
    done += piece;
    Consume(piece);
  }
  return done;
}

WholeRead PipeReader::ReadWhole(View head, std::span<std::byte> data) {
  const std::size_t all = head.size() + data.size();
  if (written_bytes_seen_ - read_bytes_ < all) {
    const std::uint64_t seen = place_.header->written_bytes.load();
    if (seen == read_bytes_) return WholeRead::kNothing;
    if (seen - read_bytes_ < all || seen - read_bytes_ > place_.ring.size())
      return WholeRead::kOther;
    written_bytes_seen_ = seen;
  }
  std::array<std::byte, kPipeRecentBytes> recent;
  const bool is_recent = written_bytes_seen_ - read_bytes_ == all && all <= kPipeRecentBytes &&
                         ReadRecent(std::span(recent).first(all));
  const View arrived = is_recent ? View(recent).first(all) : Front();
  if (arrived.size() < all || std::memcmp(arrived.data(), head.data(), head.size()) != 0)
    return WholeRead::kOther;
  if (!data.empty()) Copy(arrived.subspan(head.size(), data.size()), data.data());
  Consume(all);
  return WholeRead::kDone;
}

void PipeReader::SendAck(bool taken) {
  ++offers_;
  place_.header->answers.store(offers_ << 1 | (taken ? 1 : 0));
  writer_.Ring();
}

void PipeReader::Close() {
  place_.header->reader_closed.store(1);
  writer_.Ring();
}

}  // namespace ringlet::transport
