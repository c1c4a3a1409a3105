// A protocol without I/O. A Machine receives events and the time, and returns actions. It does not
// know the owner of the sockets and the clock (os::SocketDriver, or sim::Network with simulated
// ones). So one object runs in production, in the simulator and in the fuzzer.
#pragma once
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/value/address.hpp"
#include "base/value/bytes.hpp"

namespace ringlet {

/// Time since an origin that the driver chooses. Never zero, so that zero can mean "not yet".
using Instant = std::chrono::nanoseconds;

/// Identifies one connection of one machine. The machine numbers the connections that it dials,
/// below kFirstAcceptedLine. The driver numbers accepted ones, from there on.
using LineId = std::uint32_t;
inline constexpr LineId kFirstAcceptedLine = 1u << 31;

/// A handle of the operating system that accompanies bytes on a UNIX socket. It is opaque to a
/// machine. Its last copy closes it, so a discarded message does not leak it.
struct Descriptor {
  int value = -1;
  std::shared_ptr<const void> keeper;  ///< made by os::Keep; closes `value`
};
using Descriptors = std::vector<Descriptor>;

// ---- Events. The driver reports, the machine decides.
// --------------------------------------------

struct Connected {  ///< a Dial succeeded
  LineId line;
  std::uint32_t pid = 0;  ///< of the process that listens at a UNIX socket; 0: unknown
};
struct Accepted {  ///< a peer dialled us, and is not authenticated
  LineId line;
  Address from;
};
struct Received {  ///< bytes of the stream, cut anywhere
  LineId line;
  Slice data;
  Descriptors descriptors = {};
};
struct Closed {  ///< the peer hung up, or a Dial failed; the connection no longer exists
  LineId line;
  std::string why;  ///< such as "connection refused"; for the error message
};
struct Tick {};  ///< time has passed; early and repeated Ticks are harmless

using Event = std::variant<Connected, Accepted, Received, Closed, Tick>;

// ---- Actions, in order. -----------------------------------------------------------------------

struct Dial {
  LineId line;
  Address to;
};
struct Send {
  LineId line;
  Slice data;  ///< owned
  Descriptors descriptors = {};
};
struct Hangup {  ///< after all earlier output has been sent
  LineId line;
  bool of_stranger = false;  ///< the caller has not authenticated
};
struct Detach {  ///< hand the socket, without unread data, to the machine's owner
  LineId line;
};
enum class LogLevel : std::uint8_t { kNone, kVersion, kWarn, kInfo, kAbort, kTrace };
struct Note {  ///< one line for the log
  LogLevel level;
  std::string text;
};

using Action = std::variant<Dial, Send, Hangup, Detach, Note>;

class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  /// Never blocks and never fails: the machine records errors in its outcome.
  virtual void Handle(const Event& event, Instant now) = 0;

  /// The latest time for the next Tick. Empty if the machine does not wait.
  virtual std::optional<Instant> Deadline() const = 0;

  /// True if this machine will never emit an action again.
  virtual bool Finished() const = 0;

  /// False if the machine lacks room for another caller; callers then wait in the queue of its
  /// listeners. Checked after every Handle.
  virtual bool Accepting() const { return true; }

  /// The next action. Drain after every Handle and every command.
  std::optional<Action> PollAction() {
    if (outbox_.empty()) return std::nullopt;
    Action action = std::move(outbox_.front());
    outbox_.pop_front();
    return action;
  }

 protected:
  void Emit(Action action) { outbox_.push_back(std::move(action)); }

 private:
  // Not a deque: a million machines may exist, nearly all idle, and an empty deque holds 600 bytes.
  std::list<Action> outbox_;
};

/// Combines several lambdas into one visitor, for std::visit over Event and Action.
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace ringlet
