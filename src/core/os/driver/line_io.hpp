// The bytes and descriptors of one line: those that wait to be sent, and those that one call reads.
#pragma once
#include <cstddef>
#include <deque>
#include <span>

#include "base/wire/machine.hpp"

namespace ringlet::os {

/// The messages of a line that are not with the kernel yet.
class UnsentQueue {
 public:
  bool empty() const { return unsent_.empty(); }
  std::size_t bytes() const { return bytes_; }
  void Push(Slice data, Descriptors descriptors);

  /// The part that one call sent, or why it sent nothing (errno).
  struct Sent {
    std::size_t bytes = 0;
    int error = 0;
  };
  /// Sends as much as one call takes of a queue that is not empty. Descriptors travel over UNIX
  /// sockets only.
  Sent SendSome(int fd, bool is_unix);

 private:
  struct Unsent {
    Slice data;
    Descriptors descriptors;
  };
  void Forget(std::size_t sent);

  std::deque<Unsent> unsent_;
  std::size_t bytes_ = 0;
  std::size_t sent_of_first_ = 0;
};

/// The result of one call that reads.
struct LineReading {
  std::ptrdiff_t bytes = 0;       ///< 0: the peer has closed; negative: see `error`
  int error = 0;                  ///< of errno
  Descriptors descriptors = {};   ///< that came with the bytes
  bool descriptors_lost = false;  ///< there was no room for all of them
};
LineReading ReadSome(int fd, bool is_unix, std::span<std::byte> room);

}  // namespace ringlet::os
