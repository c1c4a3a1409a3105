// Mutual proof that both ends of a new connection know the communicator's secret.
//
//   dialler  -> acceptor   Hello      48 B  magic of the communicator, purpose, fresh nonce
//   acceptor -> dialler    Challenge  72 B  fresh nonce, proof over (Hello, own nonce)
//   dialler  -> acceptor   Proof      32 B  proof over (Hello, Challenge)
//
// A proof is BLAKE2b keyed with the secret (libsodium's crypto_generichash). The two proofs differ
// in their label, so reflecting one back is useless. Each covers a nonce that the verifier drew for
// this connection, so a recording is useless. Only these fixed sizes are parsed before the proof
// holds. The Hello states whether the connection is encrypted. Both sides have a fixed requirement,
// so they negotiate nothing that a third party could change.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet {

using Secret = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 32>;

/// The first bytes of every dialler's Hello, in every version and for every purpose.
inline constexpr std::string_view kGreeting = "RLH1";

/// The credentials of a member: the communicator's id, and its secret.
struct Credentials {
  std::uint64_t magic = 0;  ///< public name of the communicator
  Secret secret{};
  bool operator==(const Credentials&) const = default;
};

/// The purpose of a connection. Travels in the Hello and is covered by both proofs.
enum class Purpose : std::uint8_t {
  kCheckIn = 1,  ///< member to root
  kTree = 2,     ///< parent to child in the control tree
  kRing = 3,     ///< rank to rank + 1
  kPeer = 4,     ///< tagged messages between any two ranks
  kData = 5,     ///< a TCP link of the data plane
  kMemory = 6,   ///< a UNIX socket over which shared memory is exchanged
  kFabric = 7,   ///< a TCP connection over which libfabric's endpoints are exchanged
};

/// The properties of a connection that both ends must request alike.
struct LineOptions {
  bool encrypt =
      false;  ///< frames after the handshake travel in sealed records (base/wire/record.hpp)
};

/// The keys of one encrypted connection, one per direction.
struct LineKeys {
  Secret from_dialler{};
  Secret from_acceptor{};
};

/// Draws nonces that are unpredictable without the seed. The seed is from the system's random
/// source (os) or the simulator's.
class NonceSource {
 public:
  explicit NonceSource(const Secret& seed) : seed_(seed) {}
  Nonce Next();

 private:
  Secret seed_;
  std::uint64_t drawn_ = 0;
};

/// The contents of a Hello, before any proof.
struct HelloText {
  std::uint64_t magic = 0;
  std::uint8_t purpose = 0;  ///< a Purpose, if it is a known one
};
inline constexpr std::size_t kHelloBytes = 48;
/// Parses a Hello. Empty if it is too short or not a Hello of this version.
std::optional<HelloText> ReadHello(View hello);

class Handshake {
 public:
  static Handshake Dialler(const Credentials& credentials, Purpose purpose, const Nonce& nonce,
                           const LineOptions& options = {});
  static Handshake Acceptor(const Credentials& credentials, const Nonce& nonce,
                            const LineOptions& options = {});

  /// Consumes its part of `in` and leaves the rest. TakeOutput() returns the answer to send.
  /// Errors  kProtocol  not a Ringlet peer, another version, another communicator, a wrong secret,
  /// or only one side requires encryption; the message states which. Send the output, then hang up.
  Status Push(View& in);

  Bytes TakeOutput() { return std::move(output_); }
  bool done() const { return state_ == State::kDone; }
  Purpose purpose() const { return purpose_; }
  bool encrypts() const { return options_.encrypt; }
  /// The keys of this connection, once done(): hashes of the secret over both sides' nonces.
  LineKeys Keys() const;

 private:
  enum class State : std::uint8_t { kAwaitHello, kAwaitChallenge, kAwaitProof, kDone };
  Handshake(const Credentials& credentials, const Nonce& nonce, const LineOptions& options,
            State state)
      : credentials_(credentials), nonce_(nonce), options_(options), state_(state) {}
  bool Gather(View& in, std::size_t bytes);
  Status OnHello();
  Status OnChallenge();
  Status OnProof();

  Credentials credentials_;
  Nonce nonce_;
  LineOptions options_;
  State state_;
  Purpose purpose_ = Purpose::kCheckIn;
  Bytes hello_, challenge_, gathered_, output_;
};

/// libsodium's BLAKE2b-256 of `parts`, keyed. Also used to derive the unique id.
Secret KeyedHash(const Secret& key, std::initializer_list<View> parts);

}  // namespace ringlet
