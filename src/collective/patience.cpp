#include "collective/patience.hpp"

#include <thread>

namespace ringlet::collective {
namespace {

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Patience Patience::WithCores() {
  // Even with a core for each, two ranks may have been put on the same one: after some 5 us it is
  // worth asking. Who then sleeps soon is woken on that core again and stays there (70 us for an
  // operation of 0.1 us); the kernel moves only what is runnable when it looks, each millisecond.
  constexpr std::uint32_t kLooks = 200;
  constexpr std::uint32_t kYields = 4000;  // about a millisecond
  return {.looks = kLooks, .yields = kYields};
}

Patience Patience::Sharing() {
  constexpr std::uint32_t kYields = 100;
  return {.looks = 0, .yields = kYields};
}

bool Patience::Linger(std::uint32_t idle) const {
  if (idle < looks) {
    Pause();
    return true;
  }
  if (idle - looks >= yields) return false;
  std::this_thread::yield();
  return true;
}

}  // namespace ringlet::collective
