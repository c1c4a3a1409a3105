#include "frontends/torch/group/presence.hpp"

#include <fmt/format.h>

namespace ringlet::torch_api {
namespace {

// The store is asked at every so many looks; a look at a socket costs next to nothing.
constexpr std::uint32_t kLooksPerRequest = 8;

// Shorter than any address.
constexpr std::string_view kFarewell = "-";

std::string KeyOf(std::uint32_t rank) {
  return fmt::format("at:{}", rank);
}

}  // namespace

Presence::Presence(KeyStore& store, std::uint32_t rank, std::shared_ptr<comm::Beacon> beacon)
    : store_(store), rank_(rank), beacon_(std::move(beacon)) {}

Status Presence::Announce() {
  if (!beacon_) return Ok();
  Writer peer_info;
  Encode(peer_info, beacon_->address());
  return store_.Set(KeyOf(rank_), peer_info.view());
}

Status Presence::Leave() {
  return store_.Set(KeyOf(rank_), AsView(kFarewell));
}

Presence::State Presence::Of(std::uint32_t rank, bool closely) {
  const std::lock_guard lock(mutex_);
  Known& known = known_[rank];
  if (known.state == State::kGone || known.state == State::kLeft) return known.state;
  if (closely && !known.sight) LookInStore(rank, known);
  const bool gone = known.sight && known.sight->IsGone();
  if (gone || known.looks++ % kLooksPerRequest == 0) LookInStore(rank, known);
  if (gone && known.state != State::kLeft) known.state = State::kGone;
  return known.state;
}

void Presence::LookInStore(std::uint32_t rank, Known& known) {
  const auto peer_info = store_.Find(KeyOf(rank));
  // A store that does not answer any more says nothing about the rank.
  if (!peer_info.ok() || !peer_info->has_value()) return;
  if (AsText(**peer_info) == kFarewell) {
    known.state = State::kLeft;
    return;
  }
  if (known.sight) return;
  Reader in(**peer_info);
  const Address address = DecodeAddress(in);
  if (!in.AtEnd()) return;
  known.sight = comm::Sight::Of(address);
  known.state = State::kThere;
}

std::string WhyInVain(Presence& presence, std::uint32_t rank) {
  switch (presence.Of(rank)) {
    case Presence::State::kGone: return fmt::format("rank {} is gone: its process has ended", rank);
    case Presence::State::kLeft: return fmt::format("rank {} has left the process group", rank);
    case Presence::State::kThere:
    case Presence::State::kUnknown: break;
  }
  return "";
}

std::string WhyInVain(Presence& presence, std::uint32_t end, std::uint32_t but) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < end; ++rank)
    if (rank != but) ranks.push_back(rank);
  auto absent = WhyInVain(presence, ranks);
  return absent.empty() ? "" : std::move(absent.front().second);
}

std::vector<std::pair<std::uint32_t, std::string>> WhyInVain(
    Presence& presence, const std::vector<std::uint32_t>& ranks) {
  bool left = false;
  for (const std::uint32_t rank : ranks) left |= presence.Of(rank) == Presence::State::kLeft;
  std::vector<std::pair<std::uint32_t, std::string>> gone_first;
  for (const Presence::State state : {Presence::State::kGone, Presence::State::kLeft}) {
    for (const std::uint32_t rank : ranks) {
      // One that was looked at before another left, because of it, may be gone since then.
      if (presence.Of(rank, left) == state)
        gone_first.emplace_back(rank, WhyInVain(presence, rank));
    }
  }
  return gone_first;
}

}  // namespace ringlet::torch_api
