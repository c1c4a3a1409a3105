// Pipe: a byte stream from one writer to one reader through shared memory.
//
// The ring has a power of two bytes and two counters that only grow: the total written by the
// writer and the total read by the reader. Each counter has its own cache line. Each side caches
// its own counter and the last value of the other's that it read, so a line moves between cores
// only if there is something to learn. Large transfers are published in pieces, so that the reader
// copies one piece while the writer copies the next.
//
// The other side may be another process, hence outside input: each side validates the other's
// counter before use, and does not read its own state back from shared memory.
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
#include "transport/link/link.hpp"

namespace ringlet::transport {

/// A write of at most this size is also stored beside the writer's counter. A reader that loads the
/// counter then has the data without fetching another cache line.
inline constexpr std::size_t kPipeRecentBytes = 40;

/// The shared part, followed by the ring itself. All zeros mean an empty, open pipe.
struct PipeHeader {
  alignas(64) std::atomic<std::uint64_t> written_bytes{0};  // only the writer writes this line
  std::atomic<std::uint64_t> recent_end{0};    // written_bytes after `recent`; 0 during a change
  std::atomic<std::uint64_t> recent_bytes{0};  // size of `recent`
  std::atomic<std::uint64_t> recent[kPipeRecentBytes / 8] = {};
  alignas(64) std::atomic<std::uint64_t> read_bytes{0};  // only the reader writes this line
  // Times of message number `received`: when the reader was ready for it and when it had all of it.
  std::atomic<std::uint64_t> received_from{0};
  std::atomic<std::uint64_t> received_until{0};
  std::atomic<std::uint32_t> received{0};
  // Fields that a side checks on each call and that hardly ever change.
  alignas(64) std::atomic<std::uint32_t> room_wanted_bytes{0};  // 0 if the writer does not wait
  std::atomic<std::uint32_t> writer_closed{0};
  std::atomic<std::uint32_t> withdrawn{0};  // 1 if the writer's offers are invalid
  std::atomic<std::uint32_t> reader_closed{0};
  std::atomic<std::uint32_t> answers{0};  // twice the answered offers, plus 1 if the last was taken
  alignas(64) std::atomic<std::uint32_t> timed{0};  // number of the message that the reader times
};
static_assert(sizeof(PipeHeader) == 256 && std::atomic<std::uint64_t>::is_always_lock_free);

inline constexpr std::size_t kPipeBytesMin = 64;
inline constexpr std::size_t kPipeBytesMax = std::size_t{1} << 30;
inline constexpr std::size_t kPipeBytesDefault = 256 << 10;

/// Returns true for a valid ring size: a power of two from kPipeBytesMin to kPipeBytesMax.
constexpr bool IsPipeSize(std::uint64_t bytes) {
  return bytes >= kPipeBytesMin && bytes <= kPipeBytesMax && (bytes & (bytes - 1)) == 0;
}

/// Returns the memory size of a pipe with a ring of `ring_bytes`, a multiple of 64.
constexpr std::size_t PipeFootprint(std::size_t ring_bytes) {
  return sizeof(PipeHeader) + ring_bytes;
}

/// The memory of a pipe: a PipeHeader, 64-aligned, followed by the ring.
struct PipePlace {
  PipeHeader* header;
  std::span<std::byte> ring;

  /// Uses the start of `memory`, which is zero and 64-aligned, and outlives the pipe.
  static PipePlace At(std::span<std::byte> memory, std::size_t ring_bytes);
};

/// When a reader was ready for a message, and when it had all of it.
struct ReceiveTimes {
  std::uint64_t from = 0;
  std::uint64_t until = 0;
};
/// Copies from this size on may bypass the caches.
inline constexpr std::size_t kStreamedCopyMin = 4 << 10;

class PipeWriter {
 public:
  /// \param reader  rung if there are bytes to read
  PipeWriter(PipePlace place, DoorbellButton reader) : place_(place), reader_(reader) {}

  /// Takes as much of `data` as fits. Records the rest as a wish, and the reader rings when a good
  /// part of it fits.
  /// Errors  kProtocol  the reader's counter is impossible
  Result<std::size_t> Write(View data) { return Write({}, data); }
  /// Does the same for `head` followed by `data`, published together.
  Result<std::size_t> Write(View head, View data);

  /// Does the same if all of it fits before the end of the ring, in the room that this side knows.
  /// Otherwise writes nothing and returns false.
  bool WriteWhole(View head, View data);

  /// Counts one more offer (see Link::SendRts), which the caller announces to the reader.
  void CountRts() { ++offers_; }
  /// Returns true if the reader took the last offer. Empty if it has not answered.
  std::optional<bool> TakeAck() const;
  /// Invalidates all offers.
  void Withdraw() { place_.header->withdrawn.exchange(1); }

  /// Makes large copies use `stream`. Null: memcpy.
  void set_stream(CopyFunction stream) { stream_ = stream; }

  /// Returns true if all of the ring has been written at least once.
  bool has_wrapped() const { return written_bytes_ >= place_.ring.size(); }
  /// Counts the next message, as the reader does at its end. \param timed  the reader times it
  void CountMessage(bool timed);
  /// Returns the reader's times of the last timed message. Empty: it has not ended. Outside input.
  std::optional<ReceiveTimes> TimesOfReader() const;

  /// Announces the end of writing.
  void Close();
  /// Returns true if the reader has closed the pipe.
  bool reader_closed() const { return place_.header->reader_closed.load() != 0; }

 private:
  Result<std::size_t> Push(View data);
  Result<std::size_t> PushBoth(View head, View data);
  Result<std::size_t> Room(std::size_t wanted);
  void Append(View piece);
  void CopyIn(View piece, std::byte* to);
  void Publish();
  void ShowRecent(View piece);
  void RequestSpace(std::size_t bytes);

  PipePlace place_;
  DoorbellButton reader_;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t read_bytes_seen_ = 0;
  std::uint32_t offers_ = 0;
  std::uint32_t messages_ = 0;
  std::uint32_t timed_ = 0;
  CopyFunction stream_ = nullptr;
};

class PipeReader {
 public:
  /// \param writer  rung if there is the room that it waits for
  PipeReader(PipePlace place, DoorbellButton writer) : place_(place), writer_(writer) {}

  /// Copies out at most `out.size()` arrived bytes.
  /// Errors  kProtocol  the writer's counter is impossible
  Result<std::size_t> Read(std::span<std::byte> out);
  /// Copies the bytes behind `head` into `data`, if all of them have arrived, lie in one piece and
  /// follow exactly these bytes `head`. Otherwise reads nothing.
  WholeRead ReadWhole(View head, std::span<std::byte> data);
  /// Returns the arrived bytes up to the end of the ring, in place.
  Result<View> Peek();
  /// \param bytes  at most the size that the last Peek returned
  void Consume(std::size_t bytes);

  /// Counts a message that has ended, as the writer did. Returns true if the writer wants its
  /// times.
  bool CountMessage() {
    return ++messages_ == place_.header->timed.load(std::memory_order_relaxed);
  }
  /// Publishes the times of the last message.
  void ShowTimes(const ReceiveTimes& times);

  /// Answers the writer's next offer.
  void SendAck(bool taken);
  /// Returns true if offered data that was read earlier may have changed already.
  bool withdrawn() const { return RaisedBefore(place_.header->withdrawn); }

  /// Announces the end of reading.
  void Close();
  /// Returns true if the writer has closed the pipe. All that it wrote is then visible.
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
  std::uint32_t messages_ = 0;
};

}  // namespace ringlet::transport
