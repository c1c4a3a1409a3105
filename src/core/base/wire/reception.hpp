// The machine behind a listener that several machines of a process share. Without I/O.
//
// It reads a caller's Hello, which names a communicator and a purpose, and hands the line over to
// the machine that serves these, with all that was said. It knows no secret: the proof is given to
// that machine. A caller that looks for an id that is not served is told so; a caller that says no
// Hello is hung up on.
#pragma once
#include <compare>
#include <functional>
#include <map>
#include <optional>

#include "base/wire/callers.hpp"
#include "base/wire/handshake.hpp"
#include "base/wire/machine.hpp"

namespace ringlet {

/// The communicator or root that a caller looks for.
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
  /// Whether a machine serves this now. Called on the driver's thread.
  std::function<bool(const ServiceKey&)> serves;
  CallersConfig callers = {.owner = {}, .half_open_max = 32'768};
};

class Reception final : public Machine {
 public:
  explicit Reception(ReceptionConfig config)
      : config_(std::move(config)),
        nonces_(config_.nonce_seed),
        callers_(config_.callers, [this](Action action) { Emit(std::move(action)); }) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override { return callers_.Deadline(now_); }
  bool Finished() const override { return false; }
  bool Accepting() const override { return callers_.HasRoom(now_); }

  /// A caller that has said whom it looks for.
  struct Introduced {
    ServiceKey key;
    Address from;
    Bytes said;  ///< all of it, the Hello first
  };
  /// Of a line that was detached; once.
  Introduced Take(LineId line);

  std::uint32_t strangers() const { return callers_.log().turned_away(); }

 private:
  void OnReceived(const Received& event);

  ReceptionConfig config_;
  NonceSource nonces_;
  Callers<Bytes> callers_;  // and what each has said
  std::map<LineId, Introduced> guests_;
  Instant now_{0};
};

}  // namespace ringlet
