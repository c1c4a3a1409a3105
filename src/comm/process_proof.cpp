#include "comm/process_proof.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/handshake.hpp"
#include "os/process_memory.hpp"
#include "os/random.hpp"

namespace ringlet::comm {
namespace {

/// What `rank` shows to who has drawn `nonce`.
Secret ProofOf(View nonce, Rank rank) {
  Writer who;
  who.U32(Index(rank));
  return KeyedHash(Secret{}, {AsView("process of a rank"), nonce, who.view()});
}

struct Claim {
  std::int32_t pid = 0;
  std::uint64_t address = 0;  // of its proofs, by rank
};

Claim ClaimIn(View bytes) {
  Reader in(bytes);
  const Claim claim{.pid = static_cast<std::int32_t>(in.U32()), .address = in.U64()};
  return in.AtEnd() ? claim : Claim{};
}

}  // namespace

Result<ProcessProof> ProcessProof::Draw() {
  RINGLET_TRY_ASSIGN(const Secret nonce, os::SecureRandom());
  return ProcessProof(nonce);
}

Result<std::vector<std::int32_t>> ProcessProof::Exchange(Control& control,
                                                         const std::vector<View>& nonces) {
  const Rank self = control.rank();
  for (const View nonce : nonces) shown_.push_back(ProofOf(nonce, self));
  Writer claim;
  claim.U32(static_cast<std::uint32_t>(::getpid()))
      .U64(reinterpret_cast<std::uintptr_t>(shown_.data()));
  RINGLET_TRY_ASSIGN(const bootstrap::Table claims, control.AllGather(claim.Take()));
  std::vector<std::int32_t> processes(claims.size(), 0);
  for (std::uint32_t rank = 0; rank < claims.size(); ++rank) {
    const Claim said = ClaimIn(claims.At(Rank{rank}));
    Secret shown{};
    const std::uint64_t mine = said.address + Index(self) * sizeof(Secret);
    if (rank != Index(self) && said.pid > 0 &&
        os::ReadMemoryOf(said.pid, mine, std::as_writable_bytes(std::span(shown))) &&
        shown == ProofOf(nonce_, Rank{rank}))
      processes[rank] = said.pid;
  }
  return processes;
}

}  // namespace ringlet::comm
