// Explores the behavior of threads under the C++ memory model. It runs them again and again, each
// time with other turns and other readings, until no new execution is left, and reports the first
// mistake with its steps.
//
// The threads are fibers. Before each operation on a tracked atomic, lock, futex or event
// descriptor, the explorer selects the next thread; for a load it also selects the store to read.
// It explores choices depth first. It reduces partial orders as Flanagan and Godefroid do (POPL
// 2005), with sleep sets: it tries another turn only if a store could have happened before a load
// or a store that it races with. Loads may read old stores, so a load after a store need not be
// tried before it. An explored load is explored again only for later stores.
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
  kAwait,   // waits for it, unless `value` is 0; returns true if there was a signal
  kResume,  // wakes up
};

struct Event {
  Thread thread = 0;
  Op op = Op::kLoad;
  Location* location = nullptr;
  Order order = Order::kSeqCst;
  std::uint64_t value = 0;     // stored, or read; for a comparison: the new value
  std::uint64_t expected = 0;  // for a comparison or a futex
  /// Returns the new value for `seen`; null: `value`.
  std::uint64_t (*change)(std::uint64_t seen, std::uint64_t value) = nullptr;
  bool dropped = false;  // planted: not executed
};

/// A mistake, planted into the execution of operations. The checked code stays unchanged.
struct Plant {
  std::string name;
  /// Before an operation at `where`: may weaken its order, or drop it.
  std::function<void(std::string_view where, Event& event)> before = {};
  /// After a load at `where`: may change the read value.
  std::function<void(std::string_view where, Event& event)> after = {};
};

struct Scenario {
  std::string name;
  std::function<void()> begin;  ///< of each execution, before its threads
  std::vector<std::function<void()>> threads;
  std::function<std::string()> end;  ///< empty: no complaint
};

struct Limits {
  std::uint64_t executions_max = 1'000'000;
  std::uint32_t steps_max = 900;  ///< per execution
  /// Not 0: draws this number of executions instead, with this seed.
  std::uint64_t drawn = 0;
  std::uint64_t seed = 1;
  /// False: tries all turns everywhere, as a check of the explorer itself.
  bool reduced = true;
  /// If set, without reductions: all executions with at most this number of deviations. A deviation
  /// is a turn of another thread than the last one or, if that is blocked, the next one; or a load
  /// of another store than the last one.
  std::optional<std::uint32_t> deviations_max = std::nullopt;
};

struct Report {
  std::uint64_t executions = 0;  ///< run to the end
  std::uint64_t cut = 0;         ///< stopped as repetitions of explored ones
  std::uint64_t steps = 0;
  bool exhausted = false;  ///< no execution is left
  std::string bug;         ///< the first one, with its steps
};

Report Explore(const Scenario& scenario, const Limits& limits = {}, const Plant* plant = nullptr);

/// The memory shared by the threads of all scenarios; use it outside of Explore.
Memory& SharedMemory();

/// A thread of a scenario calls it upon a mistake. Does not return.
[[noreturn]] void Fail(const std::string& why);

// ---- for the runtime ----------------------------------------------------------------------------

/// Returns true if a thread of a scenario is running now.
bool InThread();
/// Executes the event in turn; returns the value read: `event.expected` if a comparison succeeds.
std::uint64_t Do(Event event);
void FenceNow(Order order);
void PlainNow(const void* address, std::size_t bytes, bool writes);

}  // namespace ringlet::model
