// Which process each rank of a host is, so that its memory can be read. A number that a rank tells
// is no proof: it could name another process of the same user, whose memory would then be read in
// its place. So each rank draws a nonce; each puts what only it is asked for, a hash of every nonce
// and of its own rank, into its memory and says where; and each reads its own there.
#pragma once
#include <cstdint>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/wire/handshake.hpp"
#include "os/process/process_memory.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::comm {

/// The proof of this rank for the others. They read it where it lies.
class ProcessProof {
 public:
  /// Errors  kSystem  no random source
  static Result<ProcessProof> Draw();

  /// To be told to all ranks first.
  const Secret& nonce() const { return nonce_; }

  /// The message of this rank to the others of its host, once: where it has laid their proofs.
  /// \param host    the ranks of this host, with `self`; the same list on all of them
  /// \param nonces  of all ranks of the communicator
  Bytes Claim(Rank self, const std::vector<Rank>& host, const std::vector<Secret>& nonces);

  /// The process of each rank of this host whose memory this one can read, known by what it shows
  /// this one; none for the others and this one. A rank that finds this object gone, or another
  /// process in the place of this one, reads from this rank's memory no more.
  /// \param claims  of the ranks of `host`, as these were told; one that cannot be read is none
  std::vector<os::KnownProcess> Check(Rank self, const std::vector<Rank>& host,
                                      const std::vector<View>& claims) const;

  static constexpr std::size_t kClaimBytes = 12;

 private:
  explicit ProcessProof(const Secret& nonce) : nonce_(nonce) {}
  Secret nonce_;
  std::vector<Secret> shown_;  // by place in the host
};

}  // namespace ringlet::comm
