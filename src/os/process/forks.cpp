#include "os/process/forks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace ringlet::os {
namespace {

using Word = std::atomic<std::uint64_t>;

// Zero in a child until it has its number. Null: there are no such pages. Never given back.
Word* MapWord() {
  void* const page =
      ::mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, sizeof(Word), MADV_WIPEONFORK) == 0) return new (page) Word(0);
  ::munmap(page, sizeof(Word));
  return nullptr;
}

std::uint64_t Number(Word& word) {
  // A child begins with the count of its parent, so that its number is a larger one.
  static Word given{0};
  const std::uint64_t next = given.fetch_add(1, std::memory_order_relaxed) + 1;
  std::uint64_t present = 0;
  return word.compare_exchange_strong(present, next) ? next : present;
}

}  // namespace

std::uint64_t ForkGeneration() {
  static Word* const word = MapWord();
  if (word == nullptr) return static_cast<std::uint64_t>(::getpid());
  const std::uint64_t number = word->load(std::memory_order_relaxed);
  return number != 0 ? number : Number(*word);
}

}  // namespace ringlet::os
