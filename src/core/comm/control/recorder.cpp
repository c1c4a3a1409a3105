#include "comm/control/recorder.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace ringlet::comm {
namespace {

using Slots = std::atomic<std::uint64_t>;

// Maximum number of peers with their own wait time. Waits for more peers count only in the total.
constexpr std::size_t kPeersCounted = 1024;

Slots* ZeroedSlots(std::size_t words) {
  static_assert(sizeof(Slots) == sizeof(std::uint64_t) && Slots::is_always_lock_free);
  // Does not use calloc, which clears recycled memory of a large program and so touches all of it.
  void* const memory = ::mmap(nullptr, words * sizeof(Slots), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Like operator new. The front ends convert it to an error, as for any other allocation.
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Slots*>(memory);
}

/// Converts ticks to times, based on two moments at which both were read.
struct TickRate {
  Instant first_now{0}, now{0};
  std::uint64_t first_ticks = 0, ticks = 0;

  Instant TimeOf(std::uint64_t then) const {
    if (then == 0) return Instant(0);
    if (ticks <= first_ticks) return first_now;
    const std::uint64_t since = std::min(then, ticks) - std::min(then, first_ticks);
    const double share = static_cast<double>(since) / static_cast<double>(ticks - first_ticks);
    const double elapsed = static_cast<double>((now - first_now).count());
    return first_now + Instant(static_cast<std::int64_t>(share * elapsed));
  }
};

}  // namespace

void FlightRecorder::FreeSlots::operator()(void* memory) const {
  ::munmap(memory, kOperationsKept * kWords * sizeof(Slots));
}

FlightRecorder::FlightRecorder()
    : slots_(ZeroedSlots(kOperationsKept * kWords)),
      first_now_(os::Now()),
      first_ticks_(os::Ticks()) {}

void FlightRecorder::NoteWait(Instant now) {
  const std::int64_t rank = waits_for.load(std::memory_order_relaxed);
  if (first_look_ == Instant(0)) first_look_ = now;
  if (rank >= 0 && last_look_ > Instant(0)) {
    const std::lock_guard lock(waited_mutex_);
    const auto peer = static_cast<std::uint32_t>(rank);
    if (waited_.size() < kPeersCounted || waited_.contains(peer)) waited_[peer] += now - last_look_;
  }
  last_look_ = now;
}

void FlightRecorder::EndTimed() {
  Stamp(kEndedWord);
  if (first_look_ == Instant(0)) return;
  const Instant now = os::Now();
  NoteWait(now);
  const std::lock_guard lock(waited_mutex_);
  wait_times_.Add(now - first_look_);
  first_look_ = last_look_ = Instant(0);
}

// Returns empty if the slot was overwritten or is being overwritten.
std::optional<FlightRecorder::Words> FlightRecorder::Read(std::uint64_t number) const {
  const std::atomic<std::uint64_t>* const slot = SlotOf(number);
  Words words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = slot[i].load(std::memory_order_acquire);
  // The next call may have written half of its slot before `begun_` counts it.
  if (begun_.load(std::memory_order_acquire) + 1 > number + kOperationsKept) return std::nullopt;
  return words;
}

namespace {

collective::Fingerprint FingerprintIn(std::uint64_t head, std::uint64_t sequence,
                                      std::uint64_t count, std::uint64_t ranks) {
  return {.sequence = sequence,
          .operation = static_cast<collective::CallKind>(head & 0xff),
          .type = static_cast<DataType>(head >> 8 & 0xff),
          .op = static_cast<ReduceOp>(head >> 16 & 0xff),
          .count = count,
          .root = Rank{static_cast<std::uint32_t>(ranks)},
          .selection = static_cast<std::uint8_t>(head >> 24 & 0xff)};
}

}  // namespace

std::optional<collective::Fingerprint> FlightRecorder::call() const {
  const std::uint64_t begun = begun_.load(std::memory_order_acquire);
  if (begun == 0) return std::nullopt;
  const auto words = Read(begun - 1);
  if (!words) return std::nullopt;
  return FingerprintIn((*words)[0], (*words)[1], (*words)[2], (*words)[3]);
}

std::optional<collective::Header> FlightRecorder::header() const {
  const auto last = call();
  if (!last) return std::nullopt;
  return collective::EncodeHeader(*last, Rank{rank_.load(std::memory_order_relaxed)});
}

std::vector<watch::RecordedOperation> FlightRecorder::Last(std::size_t most) const {
  const TickRate rate{
      .first_now = first_now_, .now = os::Now(), .first_ticks = first_ticks_, .ticks = os::Ticks()};
  const std::uint64_t done = done_.load(std::memory_order_acquire);
  const std::uint64_t begun = begun_.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>({most, begun, kOperationsKept});
  std::vector<watch::RecordedOperation> last;
  last.reserve(kept);
  for (std::uint64_t number = begun - kept; number < begun; ++number) {
    const auto words = Read(number);
    if (!words) {
      last.clear();  // all earlier ones are overwritten too
      continue;
    }
    const collective::Fingerprint call =
        FingerprintIn((*words)[0], (*words)[1], (*words)[2], (*words)[3]);
    const auto messages = static_cast<std::uint32_t>((*words)[0] >> 32);
    const bool has_root = HasRoot(call.operation) || messages > 0;
    last.push_back(
        {.number = number,
         .sequence = call.sequence,
         .call = std::string(Name(call.operation)),
         .count = call.count,
         .type = std::string(Name(call.type)),
         .reduction = Reduces(call.operation) ? std::string(Name(call.op)) : "",
         .root = has_root ? std::optional(Index(call.root)) : std::nullopt,
         .peer = messages > 0 ? std::optional(static_cast<std::uint32_t>((*words)[3] >> 32))
                              : std::nullopt,
         .bytes = (*words)[4],
         .messages = messages,
         .progress = number < done ? watch::OperationState::kDone : watch::OperationState::kBegun,
         .enqueued = rate.TimeOf((*words)[kEnqueuedWord]),
         .began = rate.TimeOf((*words)[kBeganWord]),
         .ended = rate.TimeOf((*words)[kEndedWord])});
  }
  return last;
}

std::array<std::uint64_t, collective::kCallKinds> FlightRecorder::calls() const {
  std::array<std::uint64_t, collective::kCallKinds> calls{};
  for (std::size_t kind = 0; kind < calls.size(); ++kind)
    for (const auto& of_size : counters_[kind].sizes)
      calls[kind] += of_size.load(std::memory_order_relaxed);
  return calls;
}

watch::OperationCounts FlightRecorder::counts() const {
  watch::OperationCounts counts;
  for (std::size_t kind = 0; kind < collective::kCallKinds; ++kind) {
    watch::CallCounts of_call{.call = std::string(Name(static_cast<collective::CallKind>(kind)))};
    of_call.bytes = counters_[kind].bytes.load(std::memory_order_relaxed);
    for (std::size_t bucket = 0; bucket < watch::kSizeBuckets; ++bucket)
      of_call.sizes[bucket] = counters_[kind].sizes[bucket].load(std::memory_order_relaxed);
    if (of_call.operations() > 0) counts.calls.push_back(std::move(of_call));
  }
  const std::lock_guard lock(waited_mutex_);
  counts.waited.assign(waited_.begin(), waited_.end());
  counts.wait_times = wait_times_;
  return counts;
}

}  // namespace ringlet::comm
