// The duties of a library thread to its host program.
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

/// Starts a thread. The only place that does, because a process may be at one of its limits.
/// \param purpose  what the thread is for, such as "to serve control connections"
/// Errors  kSystem  a limit on processes, memory or the container's tasks is reached; names them
Result<std::jthread> StartThread(std::string_view purpose,
                                 std::function<void(const std::stop_token&)> run);

/// Returns the result of `run`, or its exception as an error, because no exception may leave a
/// thread.
/// \param run  returns a Status or a Result
template <typename Run>
std::invoke_result_t<Run> Caught(Run&& run) {
  try {
    return std::forward<Run>(run)();
  } catch (const std::bad_alloc&) {
    return Error{Code::kSystem, "no memory"};  // the text is short enough not to allocate
  } catch (const std::exception& e) {
    return Error{Code::kSystem, std::string("unexpected: ") + e.what()};
  }
}

/// Called first in a library thread. The program's own threads then receive the signals, and the
/// thread gets a name in ps and gdb (at most 15 characters).
void BecomeServiceThread(const char* name);

/// Binds the calling thread to these CPUs. Only for library threads; the program binds its own.
/// Errors  kInvalidArgument  `cpus` is empty;  kSystem  the process may not run on any of these
Status RunOn(std::span<const CpuRange> cpus);

/// While it lives, pages that the calling thread touches first are allocated on `numa_node` if that
/// has room. If the kernel refuses (a container may forbid it), or the node does not exist,
/// allocation stays as it is. The destructor restores the earlier policy, so the program's threads
/// may use it.
class MemoryNear {
 public:
  explicit MemoryNear(std::uint32_t numa_node);
  ~MemoryNear();
  MemoryNear(const MemoryNear&) = delete;
  MemoryNear& operator=(const MemoryNear&) = delete;

  /// Returns true if the kernel agreed.
  bool in_force() const { return in_force_; }
  static constexpr std::uint32_t kNodesMax = 1024;  ///< a kernel's maximum

 private:
  bool in_force_ = false;
  int mode_before_ = 0;
  std::uint64_t nodes_before_[kNodesMax / 64] = {};
};

}  // namespace ringlet::os
