// The machine behind a listener that several machines of a process share. Without I/O.
//
// It reads a caller's Hello, which names a communicator and a purpose, and hands the line over to
// the machine that serves these, with all that was said. It knows no secret: the proof is given to
// that machine. Who looks for what nobody serves is told so; who says no Hello is hung up on.
#pragma once
#include <compare>
#include <functional>
#include <map>
#include <optional>

#include "base/wire/callers.hpp"
#include "base/wire/handshake.hpp"
#include "base/wire/machine.hpp"

namespace ringlet {

/// Whom a caller looks for.
struct ServiceKey {
  enum class Kind : std::uint8_t { kRoot, kControl, kData };
  std::uint64_t magic = 0;  ///< of the communicator
  Kind kind = Kind::kRoot;
  auto operator<=>(const ServiceKey&) const = default;
};
/// Which machine of a communicator serves what `hello` asks for.
ServiceKey KeyOf(const HelloText& hello);

struct ReceptionConfig {
  Secret nonce_seed{};  ///< fresh from the system's random source
  /// Whether somebody serves this now. Called on the driver's thread.
  std::function<bool(const ServiceKey&)> serves;
  Instant patience = std::chrono::seconds(10);  ///< for a caller to say its Hello
  std::size_t half_open_max = 32'768;           ///< callers that have not; see base/wire/callers
  std::uint32_t strangers_noted_max = 32;       ///< with a log line of their own
};

class Reception final : public Machine {
 public:
  explicit Reception(ReceptionConfig config)
      : config_(std::move(config)),
        nonces_(config_.nonce_seed),
        callers_(config_.half_open_max, config_.patience) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override { return callers_.Deadline(now_); }
  bool Finished() const override { return false; }
  bool Accepting() const override { return callers_.HasRoom(now_); }

  /// A caller that has said whom it looks for.
  struct Guest {
    ServiceKey key;
    Address from;
    Bytes said;  ///< all of it, the Hello first
  };
  /// Of a line that was detached; once.
  Guest Take(LineId line);

  std::uint32_t strangers() const { return strangers_; }

 private:
  struct Caller {
    Address from;
    Bytes said = {};
  };
  void OnReceived(const Received& event);
  void TurnAway(LineId line, const std::string& why);
  void Forget(LineId line);

  ReceptionConfig config_;
  NonceSource nonces_;
  Callers callers_;
  std::map<LineId, Caller> lines_;
  std::map<LineId, Guest> guests_;
  std::uint32_t strangers_ = 0;
  Instant now_{0};
};

}  // namespace ringlet
