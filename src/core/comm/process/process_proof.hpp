// Proves which process each rank of a host is, so that its memory can be read. A process id alone
// could name another process of the same user, and reads would then reach that process. So each
// rank draws a nonce. For each peer, a rank stores a hash of the peer's nonce and its own rank in
// its memory and publishes the address. The peer reads its hash there.
#pragma once
#include <cstdint>
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

  /// Returns this rank's message to its host's ranks: the address of their proofs. Once.
  /// \param host    the ranks of this host, with `self`; the same list on all of them
  /// \param nonces  of all ranks of the communicator
  Bytes Claim(Rank self, const std::vector<Rank>& host, const std::vector<Secret>& nonces);

  /// Returns the process of each rank of this host if this rank can read its proof there. Empty for
  /// other ranks and for this one. A peer stops reading this rank's memory if this object is
  /// destroyed or another process has replaced this one.
  /// \param claims  of the ranks of `host`; one that does not parse counts as missing
  std::vector<os::KnownProcess> Check(Rank self, const std::vector<Rank>& host,
                                      const std::vector<View>& claims) const;

  static constexpr std::size_t kClaimBytes = 12;

 private:
  explicit ProcessProof(const Secret& nonce) : nonce_(nonce) {}
  Secret nonce_;
  std::vector<Secret> shown_;  // by place in the host
};

}  // namespace ringlet::comm
