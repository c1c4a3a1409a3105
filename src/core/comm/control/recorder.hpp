// The flight recorder of one rank on one communicator. It keeps the last operations in memory of a
// fixed size. Any thread may read it while operations run. It also supplies the answer to a query
// of another rank.
//
// Cost: an all-reduce of 8 bytes takes 100 ns, so reading the clock would add a tenth. A small
// operation is timed only while it waits, when the clock read delays nothing. One in kTimedEvery is
// always timed. The recorder neither locks nor allocates, except to store the time of a long wait
// for a peer.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "collective/call/fingerprint.hpp"
#include "os/clock.hpp"
#include "watch/metrics.hpp"
#include "watch/operation.hpp"

namespace ringlet::comm {

class FlightRecorder {
 public:
  static constexpr std::size_t kOperationsKept = 2048;
  /// An operation of at least this size takes so long that it is always timed.
  static constexpr std::uint64_t kTimedBytes = 16'384;
  static constexpr std::uint64_t kTimedEvery = 32;

  FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// Sets the rank in its communicator. Called before its first operation.
  void set_rank(Rank rank) { rank_.store(Index(rank), std::memory_order_relaxed); }

  // ---- Called by the rank's thread, one at a time.

  /// Sets the enqueue time, in os::Ticks, of calls that begin from now on. 0: calls do not wait
  /// before they begin.
  void set_enqueued(std::uint64_t ticks) { enqueued_ = ticks; }

  /// A call begins. \param messages  0: a collective. \param peer  of the first message
  /// \param bytes  of the larger buffer, or of all messages together
  void Begin(const collective::Fingerprint& call, std::uint64_t bytes, std::uint32_t messages = 0,
             Rank peer = Rank{}) {
    stamped_ = timed_ = IsTimed(bytes);
    Write(call, bytes, messages, peer);
  }
  /// A collective begins. Its first step never waits for a rank. An untimed one is written after
  /// the step, by Waits or End, so that writing does not delay peers that wait for the step's data.
  /// \param call  lives until then
  void BeginWithStep(const collective::Fingerprint& call, std::uint64_t bytes) {
    stamped_ = timed_ = IsTimed(bytes);
    if (timed_) return Write(call, bytes, 0, Rank{});
    unwritten_ = &call;
    unwritten_bytes_ = bytes;
  }

  /// The operation did not end at once.
  void Waits() {
    if (stamped_) return;
    WriteAfterStep();
    stamped_ = true;
    Stamp(kBeganWord);
  }
  /// The operation waits for a rank. Called when the clock was read anyway.
  void WaitsFor(std::optional<Rank> rank, Instant now) {
    timed_ = true;
    NoteWait(now);
    waits_for.store(rank ? std::int64_t{Index(*rank)} : -1, std::memory_order_relaxed);
  }
  /// The operation is over.
  void End() {
    WriteAfterStep();
    if (timed_) EndTimed();
    waits_for.store(-1, std::memory_order_relaxed);
    done_.store(begun_.load(std::memory_order_relaxed), std::memory_order_release);
  }

  // ---- Called by any thread.

  std::atomic<std::uint64_t> operations{0};  ///< collectives called so far
  std::atomic<std::int64_t> waits_for{-1};   ///< inside an operation: a rank; else -1
  /// Returns the rank's present or last call. Empty before the first call, or while it changes.
  std::optional<collective::Fingerprint> call() const;
  /// Returns the same in the form that peers receive.
  std::optional<collective::Header> header() const;
  /// Numbers of operations of any kind that have begun, and that are over.
  std::uint64_t begun() const { return begun_.load(std::memory_order_acquire); }
  std::uint64_t done() const { return done_.load(std::memory_order_acquire); }

  /// Returns the last operations, at most `most`, oldest first. Omits operations that are
  /// overwritten during the call. Times are those of os::Now. Cost O(most)
  std::vector<watch::RecordedOperation> Last(std::size_t most = kOperationsKept) const;
  /// Returns the calls so far, by kind.
  std::array<std::uint64_t, collective::kCallKinds> calls() const;
  /// Returns the operations and bytes so far.
  watch::OperationCounts counts() const;

 private:
  static constexpr std::size_t kWords = 8;  // of an operation: a cache line
  static constexpr std::size_t kBeganWord = 5, kEndedWord = 6, kEnqueuedWord = 7;
  using Words = std::array<std::uint64_t, kWords>;
  struct FreeSlots {
    void operator()(void* memory) const;
  };

  std::atomic<std::uint64_t>* SlotOf(std::uint64_t number) const {
    return slots_.get() + number % kOperationsKept * kWords;
  }
  bool IsTimed(std::uint64_t bytes) const {
    return bytes >= kTimedBytes || begun_.load(std::memory_order_relaxed) % kTimedEvery == 0;
  }
  void WriteAfterStep() {
    if (unwritten_ == nullptr) return;
    Write(*unwritten_, unwritten_bytes_, 0, Rank{});
  }
  void Write(const collective::Fingerprint& call, std::uint64_t bytes, std::uint32_t messages,
             Rank peer) {
    unwritten_ = nullptr;  // even if the operation was abandoned before its first step
    const std::uint64_t number = begun_.load(std::memory_order_relaxed);
    std::atomic<std::uint64_t>* const slot = SlotOf(number);
    // Each store is ordered after all earlier stores, including those of the last call. So `begun_`
    // shows a reader if its slot was overwritten during the read.
    const auto put = [&](std::size_t word, std::uint64_t value) {
      slot[word].store(value, std::memory_order_release);
    };
    put(0, static_cast<std::uint64_t>(call.operation) | static_cast<std::uint64_t>(call.type) << 8 |
               static_cast<std::uint64_t>(call.op) << 16 |
               static_cast<std::uint64_t>(call.selection) << 24 | std::uint64_t{messages} << 32);
    put(1, call.sequence);
    put(2, call.count);
    put(3, Index(call.root) | std::uint64_t{Index(peer)} << 32);
    put(4, bytes);
    put(kBeganWord, timed_ ? os::Ticks() : 0);
    put(kEndedWord, 0);
    put(kEnqueuedWord, enqueued_);
    begun_.store(number + 1, std::memory_order_release);
    if (messages == 0) operations.store(call.sequence + 1, std::memory_order_relaxed);
    Count(call.operation, bytes);
  }
  void Stamp(std::size_t word) {
    SlotOf(begun_.load(std::memory_order_relaxed) - 1)[word].store(os::Ticks(),
                                                                   std::memory_order_release);
  }
  void Count(collective::CallKind kind, std::uint64_t bytes) {
    auto& of_kind = counters_[static_cast<std::size_t>(kind)];
    const auto add = [](std::atomic<std::uint64_t>& counter, std::uint64_t more) {
      counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    };
    add(of_kind.bytes, bytes);
    add(of_kind.sizes[watch::SizeBucketOf(bytes)], 1);
  }
  void EndTimed();
  void NoteWait(Instant now);
  std::optional<Words> Read(std::uint64_t number) const;

  struct KindCounters {
    std::atomic<std::uint64_t> bytes{0};
    std::array<std::atomic<std::uint64_t>, watch::kSizeBuckets> sizes{};
  };
  // Zeroed memory of the system. Its pages take no memory before their first use.
  const std::unique_ptr<std::atomic<std::uint64_t>[], FreeSlots> slots_;
  std::atomic<std::uint32_t> rank_{0};
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> done_{0};
  bool timed_ = false;    // the end will be timed
  bool stamped_ = false;  // the beginning is timed
  std::uint64_t enqueued_ = 0;
  const collective::Fingerprint* unwritten_ = nullptr;  // in its first step; null: none
  std::uint64_t unwritten_bytes_ = 0;
  // Clock reads in the present operation. Zero without a clock read.
  Instant first_look_{0}, last_look_{0};
  std::array<KindCounters, collective::kCallKinds> counters_{};
  mutable std::mutex waited_mutex_;          // guards the next two
  std::map<std::uint32_t, Instant> waited_;  // by peer
  watch::WaitTimes wait_times_;
  const Instant first_now_;  // read together with first_ticks_
  const std::uint64_t first_ticks_;
};

}  // namespace ringlet::comm
