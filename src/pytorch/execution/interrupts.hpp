// Python's signals while its main thread waits for other ranks. Included by module.cpp only.
#pragma once
#include <sys/syscall.h>
#include <torch/extension.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "comm/service/long_wait.hpp"

namespace ringlet::torch_api {

/// While this object lives, long waits of Python's main thread run the handlers of pending signals,
/// such as that of Ctrl-C, as Python does between two instructions. Other threads cannot run
/// handlers. A short wait takes no lock.
class Interrupts {
 public:
  /// \param on_raise  called once if a handler raises an exception; ends the awaited operation
  explicit Interrupts(std::function<void()> on_raise = [] {})
      : on_raise_(std::move(on_raise)), wait_([this] { return Look(); }) {}

  /// The exception of a handler; null if none raised one. Takes Python's lock when it is destroyed.
  std::exception_ptr exception() const {
    return raised_ ? std::make_exception_ptr(*raised_) : nullptr;
  }
  void Rethrow() const {
    if (raised_) throw *raised_;
  }

 private:
  static bool IsMainThread() { return ::syscall(SYS_gettid) == ::getpid(); }

  bool Look() {
    if (raised_ || !IsMainThread() || Py_IsInitialized() == 0) return raised_.has_value();
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    raised_.emplace();
    on_raise_();
    return true;
  }

  const std::function<void()> on_raise_;
  std::optional<py::error_already_set> raised_;
  const comm::LongWait wait_;
};

}  // namespace ringlet::torch_api
