// Whether a process is still the one that it was, or a child that was forked from it; and what a
// child does not get.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>

#include "os/fs/fd.hpp"

namespace ringlet::os {

/// A number of this process that none has from which it was forked, and that stays the same. From a
/// page that Linux clears in the child of a fork, however it was made (MADV_WIPEONFORK). Cost  a
/// load; where the system has no such pages, one system call.
std::uint64_t ForkGeneration();

/// An object that each process has for itself: made at the first use and made anew in a child of
/// fork(). A child must not wait for a lock in its parent's object, because the thread that held it
/// may not exist in the child. Never destroyed, since threads may outlive main's statics.
/// \tparam T  is made from a pointer to the object of the parent process, or null. It may read what
///            its parent had written once, or atomically, and take no lock of it.
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

/// Gives the socket that `open` makes, which a child made by fork() does not keep: its copy becomes
/// a descriptor of nothing, with the same number. So the connection ends with this process, however
/// long its children live, and a peer notices that. errno stays as `open` leaves it.
/// \param open  makes one system call that gives a descriptor and does not block. fork() waits for
///              it, so that no child gets a socket that is not known yet.
/// Cost  two system calls. Descriptors above 65,535 are not known, and are kept.
Fd OpenForThisProcess(const std::function<int()>& open);

/// The same for a socket that is open already. Cost  a system call
void KeepFromChildren(int socket);

}  // namespace ringlet::os
