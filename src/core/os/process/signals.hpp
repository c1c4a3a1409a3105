// Signals as something to wait for, in place of handlers.
#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// Takes the place of a signal's usual effect while it lives.
///
/// Open it before the process starts threads: it works by blocking the signals in the calling
/// thread, which later ones inherit.
class SignalQueue {
 public:
  /// A SIGHUP that the process ignores, as nohup has it, stays ignored.
  ///
  /// Errors  kSystem  no descriptors left.
  static Result<std::unique_ptr<SignalQueue>> Open(std::initializer_list<int> signals);
  /// The signals have their usual effect again, those not yet taken included.
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Readable when a signal waits to be taken.
  const Fd& fd() const { return fd_; }
  /// The next signal that has arrived, if any.
  std::optional<int> Next();

 private:
  struct Mask;
  SignalQueue(Fd fd, std::unique_ptr<Mask> before);
  Fd fd_;
  std::unique_ptr<Mask> before_;
};

/// "SIGINT"; "signal 99" where it has no name.
std::string SignalName(int signal);

/// SIGKILL: nothing is flushed, unwound or told.
[[noreturn]] void KillThisProcess();

}  // namespace ringlet::os
