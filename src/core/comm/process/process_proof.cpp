#include "comm/process/process_proof.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/wire/handshake.hpp"
#include "os/process/random.hpp"

namespace ringlet::comm {
namespace {

Secret HashOf(const std::vector<Rank>& host, const std::vector<Secret>& nonces) {
  Writer all;
  for (const Rank rank : host) all.Raw(nonces[Index(rank)]);
  return KeyedHash(Secret{}, {AsView("processes of a host"), all.view()});
}

// Returns the sign of `rank`, given the sign of any rank of its host.
Secret SignOf(Rank rank, Secret sign) {
  for (unsigned i = 0; i < 4; ++i) sign[i] = static_cast<std::byte>(Index(rank) >> (8 * i));
  return sign;
}

struct ReadClaim {
  std::int32_t pid = 0;
  RemoteAddress sign_at;
};

ReadClaim ClaimIn(View bytes) {
  Reader in(bytes);
  const ReadClaim claim{.pid = static_cast<std::int32_t>(in.U32()),
                        .sign_at = RemoteAddress(in.U64())};
  return in.AtEnd() ? claim : ReadClaim{};
}

}  // namespace

Result<ProcessProof> ProcessProof::Draw() {
  RINGLET_TRY_ASSIGN(const Secret nonce, os::SecureRandom());
  return ProcessProof(nonce);
}

Bytes ProcessProof::Claim(Rank self, const std::vector<Rank>& host,
                          const std::vector<Secret>& nonces) {
  sign_ = std::make_unique<const Secret>(SignOf(self, HashOf(host, nonces)));
  Writer claim;
  claim.U32(static_cast<std::uint32_t>(::getpid())).U64(RemoteAddress::Of(sign_.get()).told());
  return claim.Take();
}

std::vector<os::KnownProcess> ProcessProof::Claimed(Rank self, const std::vector<Rank>& host,
                                                    const std::vector<View>& claims) const {
  std::vector<os::KnownProcess> processes(host.size());
  for (std::size_t at = 0; at < host.size(); ++at) {
    const ReadClaim claim = ClaimIn(claims[at]);
    if (host[at] == self || claim.pid <= 0) continue;
    processes[at] = {.pid = claim.pid, .sign_at = claim.sign_at, .sign = SignOf(host[at], *sign_)};
  }
  return processes;
}

}  // namespace ringlet::comm
