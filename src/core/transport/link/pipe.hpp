// A byte stream from one writer to one reader through memory that both can see.
//
// A ring of a power of two of bytes, with two counters that only grow: how much was ever written
// (the writer's) and how much was ever read (the reader's). Each lies on a cache line of its own
// and each side keeps its own count and the last it saw of the other's, so a line moves between
// cores only when there is something to learn. Large transfers are published in pieces, so that the
// reader copies the first while the writer copies the next.
//
// The other side may be another process, hence outside input: its counter is checked before it is
// used, and what this side needs to know about itself it does not read back from shared memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "transport/link/doorbell.hpp"
#include "transport/link/last_look.hpp"

namespace ringlet::transport {

/// The last write, if it was this little, lies beside the writer's count as well: a reader of the
/// count then has it, without fetching another line.
inline constexpr std::size_t kPipeRecentBytes = 40;

/// The shared part, followed by the ring itself. All zero is an empty, open pipe.
struct PipeHeader {
  alignas(64) std::atomic<std::uint64_t> written_bytes{0};  // by the writer alone, as
  std::atomic<std::uint64_t> recent_end{0};    // written_bytes behind what follows; 0: it changes
  std::atomic<std::uint64_t> recent_bytes{0};  // how many of it
  std::atomic<std::uint64_t> recent[kPipeRecentBytes / 8] = {};
  alignas(64) std::atomic<std::uint64_t> read_bytes{0};  // by the reader alone
  // The fields that either looks at each time, and that hardly ever change.
  alignas(64) std::atomic<std::uint32_t> room_wanted_bytes{0};  // 0: the writer does not wait
  std::atomic<std::uint32_t> writer_closed{0};
  std::atomic<std::uint32_t> withdrawn{0};  // 1: the writer's offers do not hold
  std::atomic<std::uint32_t> reader_closed{0};
  std::atomic<std::uint32_t> answers{0};  // twice the offers answered; plus 1: the last was taken
};
static_assert(sizeof(PipeHeader) == 192 && std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t kPipeBytesMin = 64;
inline constexpr std::size_t kPipeBytesMax = std::size_t{1} << 30;
inline constexpr std::size_t kPipeBytesDefault = 256 * 1024;  // fits a core's L2 cache

/// True for the sizes a ring may have: powers of two from kPipeBytesMin to kPipeBytesMax.
constexpr bool IsPipeSize(std::uint64_t bytes) {
  return bytes >= kPipeBytesMin && bytes <= kPipeBytesMax && (bytes & (bytes - 1)) == 0;
}

/// Memory that a pipe with a ring of `ring_bytes` takes, a multiple of 64.
constexpr std::size_t PipeFootprint(std::size_t ring_bytes) {
  return sizeof(PipeHeader) + ring_bytes;
}

/// The place of a pipe: a PipeHeader, 64-aligned, and after it the ring.
struct PipePlace {
  PipeHeader* header;
  std::span<std::byte> ring;

  /// Takes the first PipeFootprint(ring_bytes) of `memory`, which are zero, 64-aligned and last.
  static PipePlace At(std::span<std::byte> memory, std::size_t ring_bytes);
};

class PipeWriter {
 public:
  /// \param reader  rung when there is something to read
  PipeWriter(PipePlace place, DoorbellButton reader) : place_(place), reader_(reader) {}

  /// Takes as much of `data` as fits; the rest is remembered as a wish, and the reader rings when a
  /// good part of it would fit.
  /// Errors  kProtocol  the reader's counter is impossible
  Result<std::size_t> Write(View data) { return Write({}, data); }
  /// The same of `head` and `data` behind it, of which the reader hears together.
  Result<std::size_t> Write(View head, View data);

  /// The reader will be told of one more offer (see Link::SendRts), whose answer is awaited.
  void CountRts() { ++offers_; }
  /// Whether the reader has taken the last one; empty: it has not answered.
  std::optional<bool> TakeAck() const;
  /// No offer holds any more.
  void Withdraw() { place_.header->withdrawn.exchange(1); }

  /// No more will be written.
  void Close();
  /// True when the reader has closed.
  bool reader_closed() const { return place_.header->reader_closed.load() != 0; }

 private:
  Result<std::size_t> Push(View data);
  Result<std::size_t> PushBoth(View head, View data);
  Result<std::size_t> Room(std::size_t wanted);
  void Append(View piece);
  void Publish();
  void ShowRecent(View piece);
  void Wish(std::size_t bytes);

  PipePlace place_;
  DoorbellButton reader_;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t read_bytes_seen_ = 0;
  std::uint32_t offers_ = 0;
};

class PipeReader {
 public:
  /// \param writer  rung when there is room that it waits for
  PipeReader(PipePlace place, DoorbellButton writer) : place_(place), writer_(writer) {}

  /// Copies out what has arrived, at most `out.size()`.
  /// Errors  kProtocol  the writer's counter is impossible
  Result<std::size_t> Read(std::span<std::byte> out);
  /// The bytes that have arrived up to the end of the ring, in place.
  Result<View> Peek();
  /// \param bytes  at most what the last Peek gave
  void Consume(std::size_t bytes);

  /// Answers the next offer of the writer.
  void SendAck(bool taken);
  /// True when what was offered, and read before, may have changed already.
  bool withdrawn() const { return RaisedBefore(place_.header->withdrawn); }

  /// No more will be read.
  void Close();
  /// True when the writer has closed; what it wrote before is then all visible.
  bool writer_closed() const { return place_.header->writer_closed.load() != 0; }

 private:
  Status Look();
  View Front() const;
  bool ReadRecent(std::span<std::byte> out) const;

  PipePlace place_;
  DoorbellButton writer_;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t written_bytes_seen_ = 0;
  std::uint32_t offers_ = 0;
};

}  // namespace ringlet::transport
