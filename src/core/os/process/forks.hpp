// Distinguishes a process from its forked children, and keeps sockets from the children.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>

#include "os/fs/fd.hpp"

namespace ringlet::os {

/// A constant number of this process that differs from those of the processes it was forked from.
/// It is in a page that Linux clears in the child of every fork (MADV_WIPEONFORK). Cost  a load;
/// one system call if the system lacks such pages.
inline std::uint64_t ForkGeneration();

namespace detail {
/// The number of this process. Null before the first call, and if the system lacks such pages.
extern constinit std::atomic<const std::atomic<std::uint64_t>*> generation_word;
std::uint64_t FindForkGeneration();
}  // namespace detail

inline std::uint64_t ForkGeneration() {
  if (const auto* const word = detail::generation_word.load(std::memory_order_acquire)) [[likely]] {
    const std::uint64_t number = word->load(std::memory_order_relaxed);
    if (number != 0) [[likely]]
      return number;
  }
  return detail::FindForkGeneration();
}

/// An object that each process has for itself: made at the first use, and made anew in a child of
/// fork(). A child must not wait for a lock in its parent's object, because the thread that held it
/// may not exist in the child. Never destroyed, because threads may outlive main's statics.
/// \tparam T  is made from a pointer to the object of the parent process, or null. It may read data
///            that its parent wrote once or atomically, and must not take a lock of it.
template <typename T>
class PerProcess {
 public:
  /// Any thread. Cost  two loads
  T& Here() {
    const std::uint64_t generation = ForkGeneration();
    OfProcess* current = made_.load(std::memory_order_acquire);
    while (!current || current->generation != generation) {
      auto* const made = new OfProcess(current ? &current->its : nullptr, generation);
      if (made_.compare_exchange_strong(current, made)) return made->its;
      delete made;
    }
    return current->its;
  }

 private:
  struct OfProcess {
    OfProcess(const T* parent, std::uint64_t of) : its(parent), generation(of) {}
    T its;
    const std::uint64_t generation;
  };
  std::atomic<OfProcess*> made_{nullptr};
};

/// Returns the socket that `open` makes. A child of fork() does not keep it: its copy becomes a
/// descriptor without a connection, with the same number. So the connection ends with this process,
/// however long its children live, and a peer notices that. errno stays as `open` leaves it.
/// \param open  makes one system call that returns a descriptor and does not block. fork() waits
///              for it, so that no child inherits an unregistered socket.
/// Cost  two system calls. Descriptors above 65,535 are not registered; children keep them.
Fd OpenForThisProcess(const std::function<int()>& open);

/// Does the same for an open socket. Cost  a system call
void CloseInChildren(int socket);

}  // namespace ringlet::os
