// Python's signals while its main thread waits for other ranks. Included by module.cpp only.
#pragma once
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "comm/service/long_wait.hpp"
#include "pytorch/execution/python.hpp"

namespace ringlet::torch_api {

/// While this object lives, long waits of Python's main thread run the handlers of pending signals,
/// such as that of Ctrl-C, as Python does between two instructions. Other threads cannot run
/// handlers. A short wait takes no lock.
class Interrupts {
 public:
  /// \param on_raise  called once if a handler raises an exception; ends the awaited operation
  explicit Interrupts(std::function<void()> on_raise = [] {})
      : on_raise_(std::move(on_raise)), wait_([this] { return Look(); }) {}

  /// The exception of a handler; null if none raised one.
  std::exception_ptr exception() const {
    return raised_ ? std::make_exception_ptr(PythonRaised(*raised_)) : nullptr;
  }
  void Rethrow() const {
    if (raised_) throw PythonRaised(*raised_);
  }

 private:
  static bool IsMainThread() { return ::syscall(SYS_gettid) == ::getpid(); }

  bool Look() {
    if (raised_ || !IsMainThread() || !Python::IsRunning()) return raised_.has_value();
    const PythonLock lock;
    if (Python::The().check_signals() == 0) return false;
    raised_ = PythonException::Take();
    on_raise_();
    return true;
  }

  const std::function<void()> on_raise_;
  std::optional<PythonException> raised_;
  const comm::LongWait wait_;
};

}  // namespace ringlet::torch_api
