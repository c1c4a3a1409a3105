// Result<T>: a value or an Error. Ringlet returns a Result instead of throwing.
#pragma once
#include <cstdint>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "ringlet/export.hpp"

namespace ringlet {

/// Classifies a failure by its cure for the caller, not by its origin.
enum class Code : std::uint8_t {
  kInvalidArgument,  ///< the caller broke a documented precondition; fix the call, it had no effect
  kUnsupported,      ///< this build or machine does not support it; choose another way
  kPeerLost,         ///< a rank is lost; abort the communicator and form a new one
  kTimeout,          ///< a deadline passed; the message names the missing ranks
  kProtocol,         ///< a peer's message does not parse or fit; versions or settings differ
  kSystem,           ///< a system call failed; Error::os_errno has its errno
  kAborted,          ///< a rank aborted the communicator; the message names the rank and its reason
};

/// Returns the enumerator's name in words, such as "peer lost". Static storage.
RINGLET_API const char* CodeName(Code code);

struct [[nodiscard]] Error {
  Code code;
  std::string message;  ///< one sentence without a newline; names rank, host, address or file
  int os_errno = 0;     ///< 0 unless code == kSystem
  const char* file = __builtin_FILE();  // std::source_location is missing in clang 14
  int line = __builtin_LINE();
  /// The rank that is lost or has left, in the communicator of the call, if code == kPeerLost and
  /// it is known; the caller's own if the others have lost the caller. Otherwise -1.
  int lost_rank = -1;
};

/// Stops the process with a message on stderr. Only for broken invariants; see RINGLET_ASSERT.
[[noreturn]] RINGLET_API void AssertionFailed(const char* condition, const char* file, int line);

/// Checks an invariant of Ringlet itself, in release builds too. Never used on outside input.
#define RINGLET_ASSERT(condition) \
  ((condition) ? void() : ::ringlet::AssertionFailed(#condition, __FILE__, __LINE__))

/// Takes a word more than a value. An error has memory of its own, so success needs no allocation,
/// and the checks are inline: an operation of 200 ns returns a dozen Results.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value)  // NOLINT(google-explicit-constructor): `return value;` is the point
      : value_(std::move(value)), ok_(true) {}
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : error_(new Error(std::move(error))), ok_(false) {}
  Result(const Result& other) : ok_(other.ok_) {
    if (ok_)
      ::new (&value_) T(other.value_);
    else
      error_ = new Error(other.error());
  }
  /// After a move, the error of `other` must not be read.
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : ok_(other.ok_) {
    if (ok_)
      ::new (&value_) T(std::move(other.value_));
    else
      error_ = std::exchange(other.error_, nullptr);
  }
  Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    this->~Result();
    return *::new (this) Result(std::move(other));
  }
  ~Result() {
    if (ok_)
      value_.~T();
    else
      delete error_;
  }

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    RINGLET_ASSERT(ok_);
    return value_;
  }
  const T& value() const& {
    RINGLET_ASSERT(ok_);
    return value_;
  }
  T&& value() && {
    RINGLET_ASSERT(ok_);
    return std::move(value_);
  }
  Error& error() & {
    RINGLET_ASSERT(!ok_ && error_);
    return *error_;
  }
  const Error& error() const& {
    RINGLET_ASSERT(!ok_ && error_);
    return *error_;
  }
  Error&& error() && {
    RINGLET_ASSERT(!ok_ && error_);
    return std::move(*error_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

 private:
  union {
    T value_;
    Error* error_;  // owned; null after a move
  };
  bool ok_;
};

struct Unit {};
using Status = Result<Unit>;
inline Status Ok() {
  return Unit{};
}

#define RINGLET_CONCAT_(a, b) a##b
#define RINGLET_CONCAT(a, b) RINGLET_CONCAT_(a, b)

/// Returns the error of `expression`, if it has one.
#define RINGLET_TRY(expression)                                     \
  do {                                                              \
    if (auto ringlet_status_ = (expression); !ringlet_status_.ok()) \
      return std::move(ringlet_status_).error();                    \
  } while (false)

/// Binds the value of `expression` to `declaration`, or returns its error.
#define RINGLET_TRY_ASSIGN(declaration, expression) \
  RINGLET_TRY_ASSIGN_(RINGLET_CONCAT(ringlet_result_, __LINE__), declaration, expression)
#define RINGLET_TRY_ASSIGN_(result, declaration, expression) \
  auto result = (expression);                                \
  if (!result.ok()) return std::move(result).error();        \
  declaration = std::move(result).value()

}  // namespace ringlet
