// Signals as a queue to wait for, instead of handlers.
#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// Replaces a signal's usual effect while it lives. Open it before the process starts threads: it
/// blocks the signals in the calling thread, and later threads inherit that.
class SignalQueue {
 public:
  /// A SIGHUP that the process ignores, as under nohup, stays ignored.
  ///
  /// Errors  kSystem  no descriptors left.
  static Result<std::unique_ptr<SignalQueue>> Open(std::initializer_list<int> signals);
  /// Restores the usual effect of the signals, including those not taken yet.
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Readable when a signal has arrived.
  const Fd& fd() const { return fd_; }
  /// The next signal that has arrived, if any.
  std::optional<int> Next();

 private:
  struct Mask;
  SignalQueue(Fd fd, std::unique_ptr<Mask> before);
  Fd fd_;
  std::unique_ptr<Mask> before_;
};

/// "SIGINT"; "signal 99" if the signal lacks a name.
std::string SignalName(int signal);

/// Sends SIGKILL: no data is flushed and no stack is unwound.
[[noreturn]] void KillThisProcess();

}  // namespace ringlet::os
