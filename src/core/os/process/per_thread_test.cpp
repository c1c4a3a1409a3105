#include "os/process/per_thread.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>

namespace ringlet::os {
namespace {

std::atomic<int> alive{0};

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  int value = 0;
};

TEST(PerThread, EachThreadHasItsOwnObjectUntilItEnds) {
  static PerThread<Counted> counted;
  counted.Get().value = 1;
  std::thread([] {
    EXPECT_EQ(counted.Find(), nullptr);
    EXPECT_EQ(counted.Get().value, 0);
    counted.Get().value = 2;
    EXPECT_EQ(counted.Get().value, 2);
    EXPECT_EQ(alive, 2);
  }).join();
  EXPECT_EQ(counted.Get().value, 1);
  EXPECT_EQ(alive, 1) << "the object of the ended thread is destroyed";
}

// AddressSanitizer needs memory of its own, so a limit of 0 ends the process there.
#ifndef __SANITIZE_ADDRESS__
/// Runs in a process of its own.
[[noreturn]] void UseWithoutMemory() {
  static PerThread<Counted> counted;
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  if (::setrlimit(RLIMIT_AS, &none) != 0) ::_exit(2);
  void** taken = nullptr;  // a chain, so that the compiler keeps the allocations
  for (std::size_t bytes = 1 << 20; bytes >= sizeof(void*);) {
    auto** const more = static_cast<void**>(::operator new(bytes, std::nothrow));
    if (more == nullptr) {
      bytes /= 2;
      continue;
    }
    *more = static_cast<void*>(taken);
    taken = more;
  }
  try {
    counted.Get();
  } catch (const std::bad_alloc&) {
    ::_exit(taken == nullptr ? 3 : 0);
  }
  ::_exit(1);
}

TEST(PerThreadDeathTest, ThrowsWithoutMemory) {
  EXPECT_EXIT(UseWithoutMemory(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace ringlet::os
