// Calls Python's functions through addresses that ringlet._backend passes. Included by module.cpp
// only.
//
// So the extension lacks undefined symbols of Python, and one file loads into each version of
// Python. The functions belong to Python's stable ABI, except PyGILState_Check, which each version
// from 3.4 on exports. Before Use, the extension behaves as in a program without Python.
#pragma once
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <torch/csrc/distributed/c10d/Backend.hpp>

struct _object;  // PyObject

namespace torch {
/// PyTorch's base class of errors that name their type in Python. Its own header needs Python's.
/// A handler compares the names of types, so it recognizes this declaration.
struct PyTorchError : public std::exception {
  virtual _object* python_type() = 0;
  const char* what() const noexcept override { return msg.c_str(); }
  std::string msg;
};
}  // namespace torch

namespace ringlet::torch_api {

class Python {
 public:
  /// ringlet._python passes the addresses in this order.
  struct StableAbi {
    int (*is_initialized)();                         // Py_IsInitialized
    int (*holds_lock)();                             // PyGILState_Check
    int (*ensure)();                                 // PyGILState_Ensure
    void (*release)(int);                            // PyGILState_Release
    void* (*state_of_thread)();                      // PyGILState_GetThisThreadState
    void* (*save_thread)();                          // PyEval_SaveThread
    void (*restore_thread)(void*);                   // PyEval_RestoreThread
    int (*check_signals)();                          // PyErr_CheckSignals
    void (*fetch)(_object**, _object**, _object**);  // PyErr_Fetch
    void (*restore)(_object*, _object*, _object*);   // PyErr_Restore
    void (*count_up)(_object*);                      // Py_IncRef
    void (*count_down)(_object*);                    // Py_DecRef
    _object* (*get)(_object*, const char*);          // PyObject_GetAttrString
    int (*set)(_object*, const char*, _object*);     // PyObject_SetAttrString
    /// Writes the program line of this thread as text that ends with 0. Empty: no line.
    void (*write_line)(char* text, std::size_t bytes);
    _object* raising;  ///< a class of Python; its constructor calls ringlet_raise_again
  };

  /// \param addresses  of the fields of StableAbi; valid until the program ends
  static void Use(at::IntArrayRef addresses) {
    TORCH_CHECK(
        addresses.size() * sizeof(std::int64_t) == sizeof(StableAbi),
        "ringlet: the files of the Python package have different versions; install it again");
    std::memcpy(&The(), addresses.data(), sizeof(StableAbi));
  }

  static StableAbi& The() {
    static StableAbi the{};
    return the;
  }
  static bool IsRunning() { return The().is_initialized != nullptr && The().is_initialized() != 0; }
};

/// Holds Python's lock. \pre  Python::IsRunning()
class PythonLock {
 public:
  PythonLock() : state_(Python::The().ensure()) {}
  ~PythonLock() { Python::The().release(state_); }
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;

 private:
  const int state_;
};

/// Releases Python's lock, if this thread holds it.
class WithoutPythonLock {
 public:
  WithoutPythonLock() {
    if (Python::IsRunning() && Python::The().holds_lock() != 0)
      thread_ = Python::The().save_thread();
  }
  ~WithoutPythonLock() {
    if (thread_ != nullptr) Python::The().restore_thread(thread_);
  }
  WithoutPythonLock(const WithoutPythonLock&) = delete;
  WithoutPythonLock& operator=(const WithoutPythonLock&) = delete;

 private:
  void* thread_ = nullptr;
};

/// Returns the innermost Python call outside PyTorch and Ringlet, with the calls that led to it, or
/// "not called from Python". Takes Python's lock. Do not call it in a turn: a thread with that lock
/// may wait for the turn. Cost  some microseconds
inline std::string PythonLine() {
  std::array<char, 2048> text{};
  if (Python::IsRunning() && Python::The().state_of_thread() != nullptr)
    Python::The().write_line(text.data(), text.size());
  return text.front() == '\0' ? "not called from Python" : text.data();
}

/// An exception of Python that a signal handler raised. Copies share it.
class PythonException {
 public:
  /// Takes the exception from this thread of Python. \pre  the thread holds Python's lock
  static PythonException Take() {
    auto parts = std::shared_ptr<Parts>(new Parts, [](Parts* ended) {
      if (Python::IsRunning()) {
        const PythonLock lock;
        for (_object* each : *ended)
          if (each != nullptr) Python::The().count_down(each);
      }
      delete ended;
    });
    Python::The().fetch(&(*parts)[0], &(*parts)[1], &(*parts)[2]);
    return PythonException(std::move(parts));
  }

  /// Raises it in this thread of Python. \pre  the thread holds Python's lock
  void Raise() const {
    for (_object* each : *parts_)
      if (each != nullptr) Python::The().count_up(each);
    Python::The().restore((*parts_)[0], (*parts_)[1], (*parts_)[2]);
  }

  /// Gives a class of Python the name of its type. \pre  the thread holds Python's lock
  void NameClass(_object* named) const {
    static constexpr const char* kName = "__name__";
    _object* const name = Python::The().get((*parts_)[0], kName);
    (void)Python::The().set(named, kName, name);
    Python::The().count_down(name);
  }

 private:
  using Parts = std::array<_object*, 3>;  // type, value and traceback
  explicit PythonException(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;
};

/// Carries an exception of Python through C++. PyTorch creates an exception of `raising` for it,
/// and the creation raises the original one.
class PythonRaised final : public torch::PyTorchError {
 public:
  explicit PythonRaised(PythonException raised) : exception_(std::move(raised)) {
    msg = "a signal handler raised an exception";
  }

  _object* python_type() override {
    Last() = exception_;
    // Up to Python 3.11, PyTorch 2.15 refuses a creation that changes the name.
    exception_.NameClass(Python::The().raising);
    return Python::The().raising;
  }

  /// The exception that is raised next. Only Python's main thread runs signal handlers.
  static std::optional<PythonException>& Last() {
    static std::optional<PythonException>& last = *new std::optional<PythonException>;
    return last;
  }

 private:
  const PythonException exception_;
};

}  // namespace ringlet::torch_api
