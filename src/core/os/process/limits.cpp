#include "os/process/limits.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace ringlet::os {

std::uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur;
}

DescriptorUse CountDescriptors() {
  constexpr rlim_t kLooksMax = 1u << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  std::vector<pollfd> all(std::min(limit.rlim_cur, kLooksMax));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].fd = static_cast<int>(i);
  ::poll(all.data(), all.size(), 0);
  const auto open =
      std::ranges::count_if(all, [](const pollfd& one) { return (one.revents & POLLNVAL) == 0; });
  return {static_cast<std::uint64_t>(open), limit.rlim_cur};
}

std::uint32_t UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<std::uint32_t>(CPU_COUNT(&set));
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);  // more CPUs than a cpu_set_t holds
  return online > 0 ? static_cast<std::uint32_t>(online) : 1;
}

std::vector<std::uint32_t> UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::uint32_t> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace ringlet::os
