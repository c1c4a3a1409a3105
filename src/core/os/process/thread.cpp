#include "os/process/thread.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "os/error.hpp"

namespace ringlet::os {

Result<std::jthread> StartThread(std::string_view purpose,
                                 std::function<void(const std::stop_token&)> run) {
  try {
    return std::jthread(std::move(run));
  } catch (const std::system_error& error) {
    return Error{Code::kSystem,
                 fmt::format("cannot start a thread {}: {}; see ulimit -u (processes), ulimit -v "
                             "(memory) and the pids.max of the container",
                             purpose, error.code().message()),
                 error.code().value()};
  } catch (const std::bad_alloc&) {
    return Error{Code::kSystem, fmt::format("no memory for a thread {}", purpose)};
  }
}

void BecomeServiceThread(const char* name) {
  sigset_t all;
  sigfillset(&all);
  // A fault of the thread itself must still end the process.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), std::string(name).substr(0, 15).c_str());
}

Status RunOn(std::span<const CpuRange> cpus) {
  std::uint32_t count = 0;
  for (const CpuRange& range : cpus) count = std::max(count, range.last + 1);
  if (count == 0) return Error{Code::kInvalidArgument, "the set of CPUs for a thread is empty"};
  const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
  const std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(count), release);
  if (!set) return Error{Code::kSystem, "no memory for a set of CPUs"};
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set.get());
  for (const CpuRange& range : cpus)
    for (std::uint32_t cpu = range.first; cpu <= range.last; ++cpu)
      CPU_SET_S(cpu, bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) == 0) return Ok();
  return SystemError("sched_setaffinity: the service thread stays where it is", errno);
}

MemoryNear::MemoryNear(std::uint32_t numa_node) {
  if (numa_node >= kNodesMax) return;
  // The kernel uses one bit less than the given number.
  if (syscall(SYS_get_mempolicy, &mode_before_, nodes_before_, kNodesMax, nullptr, 0) != 0) return;
  std::uint64_t nodes[kNodesMax / 64] = {};
  nodes[numa_node / 64] = std::uint64_t{1} << numa_node % 64;
  in_force_ = syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, kNodesMax + 1) == 0;
}

MemoryNear::~MemoryNear() {
  if (in_force_) syscall(SYS_set_mempolicy, mode_before_, nodes_before_, kNodesMax + 1);
}

}  // namespace ringlet::os
