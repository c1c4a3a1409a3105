// Explores what threads can do under the C++ memory model: runs them again and again, each time
// with other turns and other readings, until nothing new is left, and says what went wrong and how.
//
// The threads are fibers. Before each operation on an atomic, a lock, a futex or an event
// descriptor that the memory tracks, the explorer decides whose turn is next; a load is then told
// which store it reads. Choices are explored depth first. Partial orders are reduced as by Flanagan
// and Godefroid (POPL 2005), with sleep sets: another turn is tried only where a store could have
// come before a load or a store with which it races. Loads may read old stores, so a load that
// comes after a store need not be tried before it; and a load that has been explored is explored
// again only for what was stored since.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory.hpp"

namespace ringlet::model {

enum class Op : std::uint8_t {
  kLoad,
  kStore,
  kReadWrite,  // exchange, addition and so on
  kCompare,    // compare and exchange
  kFutexWait,
  kFutexWake,
  kLock,
  kLockShared,
  kUnlock,
  kSignal,  // writes to an event descriptor
  kAwait,   // waits for it, unless `value` is 0; gives whether there was a signal
  kResume,  // wakes up
};

struct Event {
  Thread thread = 0;
  Op op = Op::kLoad;
  Location* location = nullptr;
  Order order = Order::kSeqCst;
  std::uint64_t value = 0;     // stored, or read; of a comparison: what is put there
  std::uint64_t expected = 0;  // by a comparison or a futex
  /// The replacement of `seen`; null: `value`.
  std::uint64_t (*change)(std::uint64_t seen, std::uint64_t value) = nullptr;
  bool dropped = false;  // planted: not done
};

/// A mistake, put into the operations as they are carried out: what is checked stays as it is.
struct Plant {
  std::string name;
  /// Before an operation at `where`: may weaken its order, or drop it.
  std::function<void(std::string_view where, Event& event)> before = {};
  /// After a load at `where`: may change what was read.
  std::function<void(std::string_view where, Event& event)> after = {};
};

struct Scenario {
  std::string name;
  std::function<void()> begin;  ///< of each execution, before its threads
  std::vector<std::function<void()>> threads;
  std::function<std::string()> end;  ///< empty: all is as it should be
};

struct Limits {
  std::uint64_t executions_max = 1'000'000;
  std::uint32_t steps_max = 900;  ///< of an execution
  /// Not 0: that many executions are drawn instead, of this seed.
  std::uint64_t drawn = 0;
  std::uint64_t seed = 1;
  /// False: all turns are tried everywhere. To check the explorer itself.
  bool reduced = true;
  /// If set, without reductions: all executions in which at most so many times it is not the turn
  /// of the thread that had it or, if that one cannot go on, of the next one; or a load reads what
  /// is not the last store.
  std::optional<std::uint32_t> deviations_max = std::nullopt;
};

struct Report {
  std::uint64_t executions = 0;  ///< to the end
  std::uint64_t cut = 0;         ///< found to repeat what was explored
  std::uint64_t steps = 0;
  bool exhausted = false;  ///< nothing is left
  std::string bug;         ///< the first, with the steps that lead to it
};

Report Explore(const Scenario& scenario, const Limits& limits = {}, const Plant* plant = nullptr);

/// The memory that the threads of all scenarios share; outside of Explore.
Memory& SharedMemory();

/// Called by a thread of a scenario that finds something wrong. Does not return.
[[noreturn]] void Fail(const std::string& why);

// ---- for the runtime ----------------------------------------------------------------------------

/// Whether a thread of a scenario is running now.
bool InThread();
/// Carries out what the event says, at its turn; gives what it reads. A comparison has succeeded
/// if that is `event.expected`.
std::uint64_t Do(Event event);
void FenceNow(Order order);
void PlainNow(const void* address, std::size_t bytes, bool writes);

}  // namespace ringlet::model
