// The duties of a library to the program in whose process it runs a thread.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/value/cpu_range.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// Starts a thread: the only place that does, since a process may be at the limit of what it may
/// have. \param purpose  what the thread is for, such as "to serve control connections"
/// Errors  kSystem  a limit is reached: of processes, memory or the container's tasks; says which
///                  to look at
Result<std::jthread> StartThread(std::string_view purpose,
                                 std::function<void(const std::stop_token&)> run);

/// The result of `run`, or its exception as an error: no exception may leave a thread.
/// \param run  returns a Status or a Result
template <typename Run>
std::invoke_result_t<Run> Caught(Run&& run) {
  try {
    return std::forward<Run>(run)();
  } catch (const std::bad_alloc&) {
    return Error{Code::kSystem, "no memory"};  // so short a text needs none
  } catch (const std::exception& e) {
    return Error{Code::kSystem, std::string("unexpected: ") + e.what()};
  }
}

/// For a thread of ours, first thing: signals go to the program's own threads, and the thread has a
/// name in ps and gdb (at most 15 characters are kept).
void BecomeServiceThread(const char* name);

/// Has the calling thread run on these CPUs alone. For threads of ours only: where the program's
/// own may run is the program's affair.
/// Errors  kInvalidArgument  no CPU;  kSystem  the process may run on none of these
Status RunOn(std::span<const CpuRange> cpus);

/// While it lives, pages that the calling thread touches first come from `numa_node` where that has
/// room. If the kernel does not let us (a container may forbid it), or there is no such node, they
/// come from their usual place. The policy that the thread had before is its own again after; so
/// this may be used on threads of the program.
class MemoryNear {
 public:
  explicit MemoryNear(std::uint32_t numa_node);
  ~MemoryNear();
  MemoryNear(const MemoryNear&) = delete;
  MemoryNear& operator=(const MemoryNear&) = delete;

  /// Whether the kernel agreed.
  bool in_force() const { return in_force_; }
  static constexpr std::uint32_t kNodesMax = 1024;  ///< as many as a kernel can have

 private:
  bool in_force_ = false;
  int mode_before_ = 0;
  std::uint64_t nodes_before_[kNodesMax / 64] = {};
};

}  // namespace ringlet::os
