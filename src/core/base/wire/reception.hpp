// The machine of a listener that several machines of a process share. Without I/O.
//
// It reads a caller's Hello, which names a communicator and a purpose, and hands the connection
// over to the machine that serves these, with all bytes so far. It knows no secret; that machine
// checks the proof. It answers a caller with an unknown id, and hangs up on a caller without a
// Hello.
#pragma once
#include <compare>
#include <functional>
#include <map>
#include <optional>

#include "base/wire/callers.hpp"
#include "base/wire/handshake.hpp"
#include "base/wire/machine.hpp"

namespace ringlet {

/// The communicator or root that a caller requests.
struct ServiceKey {
  enum class Kind : std::uint8_t { kRoot, kControl, kData };
  std::uint64_t magic = 0;  ///< of the communicator
  Kind kind = Kind::kRoot;
  auto operator<=>(const ServiceKey&) const = default;
};
/// The machine of a communicator that serves `hello`.
ServiceKey KeyOf(const HelloText& hello);

struct ReceptionConfig {
  Secret nonce_seed{};  ///< fresh from the system's random source
  /// Returns true if a machine serves this key now. Called on the driver's thread.
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

  /// A caller that has sent its Hello.
  struct IdentifiedCaller {
    ServiceKey key;
    Address from;
    Bytes said;  ///< all received bytes, starting with the Hello
  };
  /// The caller of a detached connection. Call once.
  IdentifiedCaller Take(LineId line);

  std::uint32_t strangers() const { return callers_.log().turned_away(); }

 private:
  void OnReceived(const Received& event);

  ReceptionConfig config_;
  NonceSource nonces_;
  Callers<Bytes> callers_;  // with the bytes that each has sent
  std::map<LineId, IdentifiedCaller> identified_callers_;
  Instant now_{0};
};

}  // namespace ringlet
