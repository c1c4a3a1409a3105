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

Patience Patience::For(std::uint32_t ranks, std::uint32_t cores) {
  // Even with a core for each, two ranks may have been put on the same one: after some 5 us it is
  // worth asking. Who then sleeps soon is woken on that core again and stays there (70 us for an
  // operation of 0.1 us); the kernel moves only what is runnable when it looks, each millisecond.
  constexpr std::uint32_t kLooks = 200;
  constexpr std::uint32_t kYieldsAlone = 4000;  // about a millisecond
  constexpr std::uint32_t kYieldsShared = 100;
  return ranks <= cores ? Patience{kLooks, kYieldsAlone} : Patience{0, kYieldsShared};
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
