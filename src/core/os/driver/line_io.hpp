// The bytes and descriptors of one connection that wait to be sent, or that one call reads.
#pragma once
#include <cstddef>
#include <deque>
#include <span>

#include "base/wire/machine.hpp"

namespace ringlet::os {

/// The messages of a connection that the kernel has not taken yet.
class UnsentQueue {
 public:
  bool empty() const { return unsent_.empty(); }
  std::size_t bytes() const { return bytes_; }
  void Push(Slice data, Descriptors descriptors);

  /// The number of bytes that one call sent, or the error (errno).
  struct Sent {
    std::size_t bytes = 0;
    int error = 0;
  };
  /// Sends as much as one call takes. Descriptors travel over UNIX sockets only. \pre  not empty
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
  Descriptors descriptors = {};   ///< received with the bytes
  bool descriptors_lost = false;  ///< the room was too small for all of them
};
LineReading ReadSome(int fd, bool is_unix, std::span<std::byte> room);

}  // namespace ringlet::os
