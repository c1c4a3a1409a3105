// Proves which process each rank of a host is, so that its memory can be read. A process id alone
// could name another process of the same user, and reads would then reach that process. So each
// rank draws a nonce, and stores a sign in its memory: a hash of the nonces of its host's ranks,
// with its own number. It publishes the address. Each read by a peer includes the sign.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/wire/handshake.hpp"
#include "os/process/process_memory.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::comm {

/// The proof of this rank for the others, which read it from this object.
class ProcessProof {
 public:
  /// Errors  kSystem  no random source
  static Result<ProcessProof> Draw();

  /// All ranks must receive this first.
  const Secret& nonce() const { return nonce_; }

  /// Stores the sign of this rank. Returns its message to its host's ranks: the address. Once.
  /// \param host    the ranks of this host, with `self`; the same list on all of them
  /// \param nonces  of all ranks of the communicator
  Bytes Claim(Rank self, const std::vector<Rank>& host, const std::vector<Secret>& nonces);

  /// Returns the process that each rank of this host claims to be, with the sign that proves it.
  /// Empty for this rank. Reads nothing: each read of such memory checks the sign. Peers stop
  /// reading this rank's memory if this object is destroyed or another process has replaced this
  /// one. \param claims  of the ranks of `host`; one that does not parse counts as missing
  /// \pre  Claim
  std::vector<os::KnownProcess> Claimed(Rank self, const std::vector<Rank>& host,
                                        const std::vector<View>& claims) const;

  static constexpr std::size_t kClaimBytes = 12;

 private:
  explicit ProcessProof(const Secret& nonce) : nonce_(nonce) {}
  Secret nonce_;
  std::unique_ptr<const Secret> sign_;  // null before Claim
};

}  // namespace ringlet::comm
