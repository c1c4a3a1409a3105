// A Link carries bytes between this rank and one peer, in order, in both directions, without
// blocking.
//
// Links run within a process, over shared memory, over TCP or over libfabric. Only kind() reveals
// which. Every kind passes test/conformance/link_test.cpp. Links make progress only when called:
// the thread that waits does the work. A thread that finds no work waits on its rank's Waiter.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "transport/link/copy.hpp"

namespace ringlet::transport {

/// Minimum size of an offer, on links that support offers.
inline constexpr std::size_t kRtsBytesMin = 4 << 10;

/// Returns a time in a unit that both ends of a link share.
using TicksFunction = std::uint64_t (*)();

/// How a sender decides which messages to offer.
struct RtsSizes {
  /// Minimum size of a message that the peer reads in place, kRtsBytesMin or more. Below it, the
  /// pipe is as fast and the sender need not wait. (docs/decisions/0036)
  std::size_t reached_min = 32 << 10;
  /// The same for unregistered data of another process, which the kernel reads.
  std::size_t kernel_min = 32 << 10;
  /// If set, a link between processes chooses by time how unregistered data travels: by copies, by
  /// copies with `stream`, or by reads of the kernel. (docs/decisions/0155) Null: by `kernel_min`.
  TicksFunction ticks = nullptr;
  CopyFunction stream = nullptr;  ///< a copy that bypasses the caches; set with `ticks`

  /// Sizes for ranks that each have a core.
  static constexpr RtsSizes WithCores(TicksFunction ticks) {
    return {.reached_min = kRtsBytesMin, .ticks = ticks, .stream = StreamCopy};
  }
  /// Sizes for ranks that share cores. They copy, because an offer costs two more switches between
  /// ranks, and the other copies of the host make the time of a single message random.
  static constexpr RtsSizes Sharing() {
    return {.kernel_min = std::numeric_limits<std::size_t>::max()};
  }
};

/// The result of reading a whole message.
enum class WholeRead {
  kDone,     ///< it was read
  kNothing,  ///< no byte has arrived
  kOther,    ///< other bytes or only a part have arrived, or this kind of link does not support it
};

class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  /// Takes as much of `data` as fits now, in order. Returns 0 if the link is full.
  /// Errors  kPeerLost  the peer has left; the message names its rank, host and address. Sticky:
  ///                    every later call fails in the same way.
  virtual Result<std::size_t> Write(View data) = 0;
  /// Writes `head` and then `data`, like one contiguous write.
  virtual Result<std::size_t> WriteBoth(View head, View data) {
    auto written = Write(head);
    if (!written.ok() || *written < head.size()) return written;
    RINGLET_TRY_ASSIGN(const std::size_t more, Write(data));
    return head.size() + more;
  }

  // Whole messages, for links in memory. Each function either completes or changes nothing. The
  // caller then uses the other functions, which make progress or report an error. The peer may use
  // any functions for the same bytes.
  /// Writes `head` and `data` if all of it fits. Returns false otherwise.
  virtual bool WriteWhole(View /*head*/, View /*data*/) { return false; }
  /// Moves the bytes behind `head` into `data` if they and exactly these bytes `head` have arrived.
  virtual WholeRead ReadWhole(View /*head*/, std::span<std::byte> /*data*/) {
    return WholeRead::kOther;
  }

  /// Moves at most `out.size()` arrived bytes into `out`. Returns 0 if none has arrived.
  /// Errors as Write, but only after the caller has read everything that arrived.
  virtual Result<std::size_t> Read(std::span<std::byte> out) = 0;

  /// Returns the contiguous arrived bytes, without moving them. Empty if none has arrived. Valid
  /// until the next call of Read, Peek or Consume. The view may end inside an element even when
  /// more bytes arrive, because a ring wraps around; use Read for data that must be whole. A reader
  /// that consumes nothing sees at least the same bytes at the next call.
  virtual Result<View> Peek() = 0;
  virtual void Consume(std::size_t bytes) = 0;

  /// Returns true if all written data and all replies to the peer travel without a further call of
  /// this rank, or if the peer has left. Makes progress. An operation ends only when this is true,
  /// because its rank may not call again for long.
  virtual bool Settled() { return true; }

  virtual Rank peer() const = 0;
  virtual std::string_view kind() const = 0;  ///< the name in its row of the table of transports
  /// Returns true if Peek shows memory that the peer wrote. Read then makes an avoidable copy.
  virtual bool in_memory() const { return false; }

  // Offers: the receiver fetches data from the sender's memory, with one copy instead of two. The
  // sender announces each offer in the stream of bytes. Only one offer is open at a time.

  /// Returns true if this kind of link supports offers. Both ends agree on that. The kernel may
  /// still refuse a particular offer.
  virtual bool fetches() const { return false; }
  /// Sender: offers `data` until the peer answers or Withdraw is called. Returns the number of the
  /// offer, for the peer, or 0 if the peer cannot fetch the data and the sender must write it.
  virtual std::uint64_t SendRts(View /*data*/) { return 0; }
  /// Sender: returns true if the peer has fetched the last offer, false if it wants the data
  /// written, empty before the answer.
  /// Errors  as Write
  virtual Result<std::optional<bool>> TakeAck() { return std::optional<bool>(false); }
  /// Sender: cancels the offer. The peer discards whatever it fetches from now on or is fetching at
  /// the moment. No later offer is valid.
  virtual void Withdraw() {}
  /// Receiver: fetches a piece of the peer's offer. Returns false if it cannot.
  /// \param offer  the number that the peer sent; outside input
  /// \param at     start of the piece, in bytes
  /// \param copy   used for memory that this rank reads directly
  /// Errors  kPeerLost  the peer has withdrawn the offer
  virtual Result<bool> Get(std::uint64_t /*offer*/, std::size_t /*at*/, std::span<std::byte> /*to*/,
                           CopyFunction /*copy*/) {
    return false;
  }
  /// Receiver: ends the offer. \param taken  true if all was fetched; else the peer writes it
  virtual void SendAck(bool /*taken*/) {}

  /// Receiver: is ready for the next message for which the sender calls SendRts.
  virtual void BeginReceive() {}
  /// Receiver: has received all of it.
  virtual void EndReceive() {}
};

/// The thread of a rank sleeps in a Waiter until a link of the rank has news or another thread
/// calls Wake.
///
///   const auto ticket = waiter.Prepare();      // from here on news is not missed
///   if (!Advance()) waiter.Wait(ticket, until);
///
/// Any thread may call Wake. Only the rank's thread may call the other functions.
class Waiter {
 public:
  using Ticket = std::uint32_t;
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;

  virtual Ticket Prepare() = 0;
  /// Returns after news since `ticket`, after Wake, after `timeout` at the latest, or spuriously.
  virtual void Wait(Ticket ticket, std::chrono::nanoseconds timeout) = 0;
  virtual void Wake() = 0;

  /// Returns true if all news is in memory, so that polling needs no system call.
  virtual bool in_memory() const = 0;

  /// A descriptor that becomes readable with news, for a thread that serves several ranks. The
  /// thread calls PrepareDescriptor on each, checks for news again, polls them, then calls
  /// Acknowledge.
  virtual int descriptor() const = 0;
  virtual void PrepareDescriptor() = 0;
  virtual void Acknowledge() = 0;
};

}  // namespace ringlet::transport
