// A descriptor that closes itself.
#pragma once
#include <utility>

#include "base/wire/machine.hpp"

namespace ringlet::os {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { Close(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Close();

 private:
  int fd_ = -1;
};

/// Another descriptor of the same file, closed on exec. Errors  kSystem  as dup(2)
Result<Fd> Duplicate(int fd);

/// A Descriptor for machines and their messages. Its last copy closes `fd`.
Descriptor Keep(Fd fd);

}  // namespace ringlet::os
