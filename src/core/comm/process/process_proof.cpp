#include "comm/process/process_proof.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/wire/handshake.hpp"
#include "os/process/random.hpp"

namespace ringlet::comm {
namespace {

/// Returns the proof of `rank` for the rank that drew `nonce`.
Secret ProofOf(View nonce, Rank rank) {
  Writer who;
  who.U32(Index(rank));
  return KeyedHash(Secret{}, {AsView("process of a rank"), nonce, who.view()});
}

struct Claimed {
  std::int32_t pid = 0;
  RemoteAddress proofs;  // its address, by place in the host
};

Claimed ClaimIn(View bytes) {
  Reader in(bytes);
  const Claimed claimed{.pid = static_cast<std::int32_t>(in.U32()),
                        .proofs = RemoteAddress(in.U64())};
  return in.AtEnd() ? claimed : Claimed{};
}

}  // namespace

Result<ProcessProof> ProcessProof::Draw() {
  RINGLET_TRY_ASSIGN(const Secret nonce, os::SecureRandom());
  return ProcessProof(nonce);
}

Bytes ProcessProof::Claim(Rank self, const std::vector<Rank>& host,
                          const std::vector<Secret>& nonces) {
  for (const Rank rank : host) shown_.push_back(ProofOf(nonces[Index(rank)], self));
  Writer claim;
  claim.U32(static_cast<std::uint32_t>(::getpid())).U64(RemoteAddress::Of(shown_.data()).told());
  return claim.Take();
}

std::vector<os::KnownProcess> ProcessProof::Check(Rank self, const std::vector<Rank>& host,
                                                  const std::vector<View>& claims) const {
  const auto place = static_cast<std::size_t>(std::ranges::find(host, self) - host.begin());
  std::vector<os::KnownProcess> processes(host.size());
  for (std::size_t at = 0; at < host.size(); ++at) {
    const Claimed said = ClaimIn(claims[at]);
    if (at == place || said.pid <= 0) continue;
    const os::KnownProcess claimed{.pid = said.pid,
                                   .sign_at = said.proofs + place * sizeof(Secret),
                                   .sign = ProofOf(nonce_, host[at])};
    std::byte any{};
    if (os::ReadMemoryOf(claimed, claimed.sign_at, {&any, 1})) processes[at] = claimed;
  }
  return processes;
}

}  // namespace ringlet::comm
