// A protocol without I/O. A Machine is told what happened and what time it is, and says what to do
// next; who owns the sockets and the clock (os::SocketDriver) or pretends to (sim::Network) is not
// its business. So one object runs in production, under the simulator and under the fuzzer.
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

/// Time since an origin that the driver chooses. The driver never starts at zero, so that zero can
/// mean "not yet".
using Instant = std::chrono::nanoseconds;

/// Names one line (one connection) of one machine. The machine numbers the lines it dials below
/// kFirstAcceptedLine; the driver numbers those it accepts from there.
using LineId = std::uint32_t;
inline constexpr LineId kFirstAcceptedLine = 1u << 31;

/// A handle of the operating system that travels beside bytes on a UNIX socket. To a machine it is
/// opaque; it is closed when the last copy goes, so none is lost with a message that no machine
/// wants.
struct Descriptor {
  int value = -1;
  std::shared_ptr<const void> keeper;  ///< made by os::Keep; closes `value`
};
using Descriptors = std::vector<Descriptor>;

// ---- What happened. The driver reports, the machine decides.
// -------------------------------------

struct Connected {  ///< a Dial came through
  LineId line;
  std::uint32_t pid = 0;  ///< of the process that listens at a UNIX socket; 0: not known
};
struct Accepted {  ///< a peer dialled us; nothing is known of it yet
  LineId line;
  Address from;
};
struct Received {  ///< bytes of the stream, cut anywhere
  LineId line;
  Slice data;
  Descriptors descriptors = {};
};
struct Closed {  ///< the other side hung up, or a Dial failed; the line is gone
  LineId line;
  std::string why;  ///< such as "connection refused"; for the error message
};
struct Tick {};  ///< time passed; early and repeated Ticks are harmless

using Event = std::variant<Connected, Accepted, Received, Closed, Tick>;

// ---- What to do next, in order. ---------------------------------------------------------------

struct Dial {
  LineId line;
  Address to;
};
struct Send {
  LineId line;
  Slice data;  ///< owned
  Descriptors descriptors = {};
};
struct Hangup {  ///< after everything sent before has left
  LineId line;
  bool of_stranger = false;  ///< a caller that has not proven itself is sent away
};
struct Detach {  ///< hand the socket of this line, with nothing unread, to the machine's owner
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

  /// Never blocks and never fails: what goes wrong is recorded in the machine's outcome.
  virtual void Handle(const Event& event, Instant now) = 0;

  /// When to deliver a Tick at the latest; empty when nothing is awaited.
  virtual std::optional<Instant> Deadline() const = 0;

  /// True when this machine will neither say nor do anything any more.
  virtual bool Finished() const = 0;

  /// False while it has no room for another caller: those who call wait in the queue of its
  /// listeners until it has. Asked after every Handle.
  virtual bool Accepting() const { return true; }

  /// The next thing to do. Drain after every Handle and every command.
  std::optional<Action> PollAction() {
    if (outbox_.empty()) return std::nullopt;
    Action action = std::move(outbox_.front());
    outbox_.pop_front();
    return action;
  }

 protected:
  void Emit(Action action) { outbox_.push_back(std::move(action)); }

 private:
  // Not a deque: there may be a million machines, nearly all of them idle, and an empty deque holds
  // 600 bytes.
  std::list<Action> outbox_;
};

/// Makes one visitor of several lambdas, for std::visit over Event and Action.
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace ringlet
