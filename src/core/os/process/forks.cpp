#include "os/process/forks.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>

namespace ringlet::os {
namespace {

using Word = std::atomic<std::uint64_t>;

// Maps a word that is zero in a child until it has its number. Null without kernel support. Never
// unmapped.
Word* MapWord() {
  void* const page =
      ::mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, sizeof(Word), MADV_WIPEONFORK) == 0) return new (page) Word(0);
  ::munmap(page, sizeof(Word));
  return nullptr;
}

std::uint64_t Number(Word& word) {
  // A child starts with the count of its parent, so that its number is larger.
  static Word given{0};
  const std::uint64_t next = given.fetch_add(1, std::memory_order_relaxed) + 1;
  std::uint64_t present = 0;
  return word.compare_exchange_strong(present, next) ? next : present;
}

// The inode of the socket of each registered descriptor; 0: none. A reused descriptor
// refers to another inode, so closing need not be reported.
constinit std::array<std::atomic<std::uint64_t>, 65'536> sockets{};
constinit std::atomic<int> sockets_end{0};
constinit std::mutex opening;

std::uint64_t InodeOf(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

void RecordSocket(int fd) {
  if (fd < 0 || static_cast<std::size_t>(fd) >= sockets.size()) return;
  sockets[static_cast<std::size_t>(fd)].store(InodeOf(fd), std::memory_order_relaxed);
  if (fd >= sockets_end.load(std::memory_order_relaxed))
    sockets_end.store(fd + 1, std::memory_order_relaxed);
}

// Runs in the child, which has this one thread, so it makes only system calls. A closed descriptor
// number could be reused for a file of the child, which a copy of our objects would then close.
void CloseSocketsInChild() {
  const int nothing = ::eventfd(0, EFD_CLOEXEC);
  const int end = sockets_end.load(std::memory_order_relaxed);
  for (int fd = 0; fd < end; ++fd) {
    const std::uint64_t inode =
        sockets[static_cast<std::size_t>(fd)].load(std::memory_order_relaxed);
    if (inode == 0 || inode != InodeOf(fd)) continue;
    if (nothing < 0 || ::dup3(nothing, fd, O_CLOEXEC) < 0) ::close(fd);
  }
  if (nothing >= 0) ::close(nothing);
}

void WatchForks() {
  static const int failed = ::pthread_atfork([] { opening.lock(); }, [] { opening.unlock(); },
                                             [] {
                                               CloseSocketsInChild();
                                               opening.unlock();
                                             });
  static_cast<void>(failed);  // out of memory; children then keep the sockets
}

}  // namespace

Fd OpenForThisProcess(const std::function<int()>& open) {
  WatchForks();
  const std::lock_guard lock(opening);
  Fd fd(open());
  const int error = errno;
  RecordSocket(fd.get());
  errno = error;
  return fd;
}

void CloseInChildren(int socket) {
  WatchForks();
  const std::lock_guard lock(opening);
  RecordSocket(socket);
}

namespace detail {

constinit std::atomic<const Word*> generation_word{nullptr};

std::uint64_t FindForkGeneration() {
  static Word* const word = MapWord();
  if (word == nullptr) return static_cast<std::uint64_t>(::getpid());
  generation_word.store(word, std::memory_order_release);
  const std::uint64_t number = word->load(std::memory_order_relaxed);
  return number != 0 ? number : Number(*word);
}

}  // namespace detail

}  // namespace ringlet::os
