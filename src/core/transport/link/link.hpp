// A Link carries bytes between this rank and one other, in order, both ways, without blocking.
//
// Whether a link is a pointer into the same process, shared memory, a TCP connection or messages of
// libfabric is told only by kind(). Every kind passes test/conformance/link_test.cpp. Links make
// progress only when called (the thread that waits does the work); who finds nothing to do waits on
// its rank's Waiter.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::transport {

/// The least size of an offer on links that know of offers.
inline constexpr std::size_t kRtsBytesMin = 4 << 10;

/// The size from which a sender does offer, bytes. Below, the pipe takes no longer, and its sender
/// need not wait; above, the kernel's copy takes longer, which does not go past the caches.
/// (docs/decisions/0036, 0052, 0056)
struct RtsSizes {
  std::size_t reached_min = 32 << 10;  ///< where the peer reads by itself; kRtsBytesMin or more
  std::size_t read_min = 32 << 10;     ///< where it asks the kernel
  std::size_t read_max = 4 << 20;

  /// Of ranks that have a core each.
  static constexpr RtsSizes WithCores() {
    return {.reached_min = kRtsBytesMin, .read_max = 8 << 20};
  }
};

class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  /// Takes as much of `data` as fits now, in order; 0 when the link is full.
  /// Errors  kPeerLost  the other end is gone; the sentence names its rank, host and address.
  ///                    Sticky: every later call fails the same way.
  virtual Result<std::size_t> Write(View data) = 0;
  /// Write of `head` and then of `data`, as if they lay behind each other.
  virtual Result<std::size_t> WriteBoth(View head, View data) {
    auto written = Write(head);
    if (!written.ok() || *written < head.size()) return written;
    RINGLET_TRY_ASSIGN(const std::size_t more, Write(data));
    return head.size() + more;
  }

  /// Moves what has arrived, at most `out.size()` bytes, into `out`; 0 when nothing has.
  /// Errors as Write, but only after everything that did arrive has been read.
  virtual Result<std::size_t> Read(std::span<std::byte> out) = 0;

  /// The bytes that have arrived, as far as they lie in one piece, without moving them; empty when
  /// none have. Valid until the next call of Read, Peek or Consume. A piece may end in the middle
  /// of an element and stay so (a ring ends where it ends): what is needed whole is fetched by
  /// Read. A reader that consumes nothing sees at least as much again, and more when more has come.
  virtual Result<View> Peek() = 0;
  virtual void Consume(std::size_t bytes) = 0;

  /// Whether what was written, and what reading owes the peer, travels without a further call of
  /// this rank. Makes progress. True also where the peer is gone. An operation that is done is over
  /// only then, since its rank may not call for long.
  virtual bool Settled() { return true; }

  virtual Rank peer() const = 0;
  virtual std::string_view kind() const = 0;  ///< "inproc", "shm", "tcp" or "ofi"
  /// Whether Peek shows memory that the peer wrote, so that Read copies what need not be copied.
  virtual bool in_memory() const { return false; }

  // Data that the receiver fetches from the sender's memory itself: one copy instead of two. Beside
  // the stream of bytes, in which the sender tells what it offers. One offer at a time.

  /// Whether this kind of link knows of offers; both ends say the same. The outcome of an offer is
  /// another question: the kernel may forbid it.
  virtual bool fetches() const { return false; }
  /// Sender: `data` may be fetched until the peer has answered or Withdraw is called. The number to
  /// tell the peer; 0: it could not fetch them, write them.
  virtual std::uint64_t SendRts(View /*data*/) { return 0; }
  /// Sender: true when the peer has fetched what was offered last, false when it wants it written,
  /// empty when it has not said so yet. Errors  as Write
  virtual Result<std::optional<bool>> TakeAck() { return std::optional<bool>(false); }
  /// Sender: gives up. Data that the peer fetches from now on, or is just fetching, it will not
  /// take for data; no further offer is good.
  virtual void Withdraw() {}
  /// As std::memcpy(to, from.data(), from.size()).
  using Copy = void (*)(View from, std::byte* to);
  /// Receiver: fetches a piece of what the peer offered. False: it cannot.
  /// \param offer the number that the peer told; outside input
  /// \param at     where the piece begins, bytes
  /// \param copy   for memory that this rank reads by itself
  /// Errors  kPeerLost  the peer has given up meanwhile
  virtual Result<bool> Get(std::uint64_t /*offer*/, std::size_t /*at*/, std::span<std::byte> /*to*/,
                           Copy /*copy*/) {
    return false;
  }
  /// Receiver: done with what the peer offered. \param taken  all of it; else it has to be written
  virtual void SendAck(bool /*taken*/) {}
};

/// The sleeping place of one rank's thread until a link of the rank has news or another thread
/// calls Wake.
///
///   const auto ticket = waiter.Prepare();      // from here on news is not missed
///   if (!Advance()) waiter.Wait(ticket, until);
///
/// Wake may be called from any thread; the rest by the rank's thread only.
class Waiter {
 public:
  using Ticket = std::uint32_t;
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;

  virtual Ticket Prepare() = 0;
  /// Returns after news since `ticket`, after Wake, at the latest after `timeout`, or spuriously.
  virtual void Wait(Ticket ticket, std::chrono::nanoseconds timeout) = 0;
  virtual void Wake() = 0;

  /// Whether all news is in memory, so that looking for it asks nothing of the kernel.
  virtual bool in_memory() const = 0;

  /// A descriptor that becomes readable with news, for a thread that serves several ranks; the
  /// thread calls PrepareDescriptor on each, looks once more, polls them, then calls Acknowledge.
  virtual int descriptor() const = 0;
  virtual void PrepareDescriptor() = 0;
  virtual void Acknowledge() = 0;
};

}  // namespace ringlet::transport
