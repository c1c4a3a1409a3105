// The memory of one execution, as visible to threads under the C++ memory model.
//
// Every atomic location keeps all stored values, in modification order. A load may read any of
// them, with two exceptions: an event that happens before the load has overwritten the value
// (coherence), or the sequentially consistent operations would lose their single order. Two
// threads, with one that writes, may access non-atomic memory only if one access happens before the
// other; anything else is a data race.
//
// Modification order is the order of execution: the explorer tries all of them. Two effects are not
// modelled, because no order of execution shows them: a store ordered before an executed one (2+2W
// of relaxed stores), and load buffering.
#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ringlet::model {

inline constexpr std::uint32_t kThreadsMax = 4;
using Thread = std::uint32_t;

/// The compiler's numbers, equal to those of std::memory_order.
enum class Order : int { kRelaxed, kConsume, kAcquire, kRelease, kAcqRel, kSeqCst };
inline bool Acquires(Order order) {
  return order != Order::kRelaxed && order != Order::kRelease;
}
inline bool Releases(Order order) {
  return order >= Order::kRelease;
}

/// Number of known events of each thread.
struct Clock {
  std::array<std::uint32_t, kThreadsMax> at = {};
  void Join(const Clock& other) {
    for (Thread i = 0; i < kThreadsMax; ++i)
      if (at[i] < other.at[i]) at[i] = other.at[i];
  }
};

struct Location {
  std::uint64_t execution = 0;  // execution of the following members
  const void* address = nullptr;
  std::uint32_t bytes = 0;

  struct Store {
    std::uint64_t value = 0;
    Clock view;  // knowledge acquired by a thread that reads it
    Clock past;  // all earlier events, in program order, by reading, in modification order
  };
  std::vector<Store> stores;  // [0]: the value before the threads began

  struct Seen {
    std::uint32_t clock, index;
  };
  std::array<std::vector<Seen>, kThreadsMax> seen;  // stores written or read, by event

  struct Ordered {
    std::uint32_t node, index;
    bool writes;
  };
  std::vector<Ordered> ordered;  // sequentially consistent accesses

  /// Used by the explorer.
  struct Access {
    std::uint32_t step;
    Thread thread;
    std::uint32_t clock;
  };
  std::vector<Access> accesses;
  Clock writes;                // past of the next writer
  std::uint32_t sleepers = 0;  // one bit per thread that waits for a wake-up
  std::uint32_t sharers = 0;   // for a lock
  bool held = false;           // a lock, exclusively
  bool ready = false;          // an event descriptor
};

class Memory {
 public:
  /// The locations under check. All other memory is private to a thread and unchecked.
  /// Valid until Forget.
  void Share(const std::string& name, const void* begin, std::size_t bytes);
  /// Names a part of shared memory, for traces.
  void Name(const std::string& name, const void* begin, std::size_t bytes);
  void Forget();
  std::string NameOf(const void* address) const;

  /// Begins the next execution, without events.
  void Begin();

  bool Tracks(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= lowest_ && at < highest_ && RangeOf(at) != nullptr;
  }
  Location& At(const void* address, std::uint32_t bytes);

  /// Adds an event of `thread`, before its action.
  void Tick(Thread thread);
  const Clock& past(Thread thread) const { return threads_[thread].past; }

  /// Returns the readable stores at `location` from `from` on, the last one first.
  void Readable(Thread thread, const Location& location, Order order, std::uint32_t from,
                std::vector<std::uint32_t>& indices) const;
  std::uint64_t Read(Thread thread, Location& location, std::uint32_t index, Order order);
  void Write(Thread thread, Location& location, std::uint64_t value, Order order);
  /// Reads the last store and appends `value`.
  void ReadAndWrite(Thread thread, Location& location, std::uint64_t value, Order order);
  void Fence(Thread thread, Order order);

  /// Synchronization through a lock.
  void Leave(Thread thread, Location& lock);
  void Enter(Thread thread, const Location& lock);

  /// The explorer's dependences: every write to a location depends on earlier ones, and a sleeper
  /// on its waker. They do not order the threads.
  void FollowWrites(Thread thread, const Location& location) {
    threads_[thread].past.Join(location.writes);
  }
  void KeepWrites(Thread thread, Location& location) { location.writes = threads_[thread].past; }
  void PassClock(Thread from, Thread to) { threads_[to].past.Join(threads_[from].past); }

  /// Checks a non-atomic access. Returns "", or the sentence about the race.
  std::string Plain(Thread thread, const void* address, std::size_t bytes, bool writes);

 private:
  static constexpr std::size_t kNodesMax = 1024;
  using Nodes = std::bitset<kNodesMax>;
  struct ThreadState {
    Clock known;     // happens before the next event
    Clock unfenced;  // would happen before it, after an acquire fence
    Clock fenced;    // known at the last release fence
    Clock past;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> nodes;  // clock and node
  };
  struct Shadow {
    std::uint64_t execution = 0;
    Thread writer = kThreadsMax;
    std::uint32_t written = 0;
    std::array<std::uint32_t, kThreadsMax> read = {};
  };
  struct Range {
    std::string name;
    std::uintptr_t begin, end;
    std::vector<Shadow> shadows;
  };

  const Range* RangeOf(std::uintptr_t at) const;
  std::uint32_t Floor(Thread thread, const Location& location) const;
  Nodes NodesBefore(Thread thread, const Location& location, std::uint32_t index,
                    bool writes) const;
  bool OrderHolds(Thread thread, const Location& location, std::uint32_t index) const;
  void AddNode(Thread thread, Location& location, std::uint32_t index, bool writes);
  void ReadFrom(Thread thread, const Location::Store& store, Order order);
  void Append(Thread thread, Location& location, std::uint64_t value, Order order,
              const Clock* carried);

  std::vector<Range> ranges_;
  std::vector<Range> names_;
  std::uintptr_t lowest_ = UINTPTR_MAX, highest_ = 0;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Location>> locations_;
  std::uint64_t execution_ = 0;
  std::array<ThreadState, kThreadsMax> threads_;
  std::vector<Nodes> before_;  // by node: its predecessors in the single order
};

}  // namespace ringlet::model
