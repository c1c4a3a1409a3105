#include "pytorch/group/presence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pytorch/tensors/process.hpp"

namespace ringlet::torch_api {
namespace {

// Number of checks of a rank per read of the store. Other checks read a socket, almost for free.
constexpr std::uint32_t kLooksPerRequest = 8;

// The key that contains the number of the rank that began the newest generation.
constexpr char kBeginner[] = "beginner";

std::string KeyOf(std::uint32_t rank) {
  return fmt::format("at:{}", rank);
}

}  // namespace

Result<std::optional<Presence::PresenceRecord>> Presence::NoteOf(std::uint32_t rank) {
  RINGLET_TRY_ASSIGN(const auto bytes, store_.Find(KeyOf(rank)));
  if (!bytes) return std::optional<PresenceRecord>();
  Reader in(*bytes);
  PresenceRecord record;
  record.generation = in.U64();
  record.first = in.U64();
  record.process = in.U64();
  record.left = in.U8() != 0;
  if (in.ok() && in.remaining() > 0) record.beacon = DecodeAddress(in);
  return in.AtEnd() ? std::optional(record) : std::nullopt;
}

Status Presence::Put(const PresenceRecord& record) {
  Writer out;
  out.U64(record.generation).U64(record.first).U64(record.process).U8(record.left ? 1 : 0);
  if (record.beacon) Encode(out, *record.beacon);
  return store_.Set(KeyOf(self_.rank), out.view());
}

Status Presence::Announce() {
  RINGLET_TRY_ASSIGN(const auto before, NoteOf(self_.rank));
  PresenceRecord own{.generation = 1, .first = 1, .process = self_.process};
  if (before) own.generation = own.first = before->generation + 1;
  if (self_.beacon) own.beacon = self_.beacon->address();
  if (before && before->process == self_.process) {
    own.first = before->first;
  } else {
    RINGLET_TRY(JoinGeneration(own));
  }
  generation_ = own.generation;
  return Put(own);
}

// A new process joins the generation of the living ranks, which its predecessor may have missed.
Status Presence::JoinGeneration(PresenceRecord& own) {
  RINGLET_TRY_ASSIGN(const auto named, store_.Find(kBeginner));
  std::optional<PresenceRecord> beginner;
  if (named) {
    Reader in(*named);
    RINGLET_TRY_ASSIGN(beginner, NoteOf(in.U32()));
  }
  if (beginner && beginner->generation >= own.generation) {
    const bool ended = !beginner->left && beginner->beacon && HasEnded(*beginner->beacon);
    own.generation = ended ? beginner->generation + 1 : std::max(own.generation, beginner->first);
    own.first = own.generation;
    if (own.generation <= beginner->generation) return Ok();
  }
  // Other ranks may read the note as soon as the store names this rank as the beginner.
  RINGLET_TRY(Put(own));
  Writer name;
  name.U32(self_.rank);
  return store_.Set(kBeginner, name.view());
}

Status Presence::Leave(Use use) {
  RINGLET_TRY_ASSIGN(const auto before, NoteOf(self_.rank));
  // The program may have made the group again before it destroyed this one.
  if (!before || before->process != self_.process || before->generation != generation_) return Ok();
  PresenceRecord own = *before;
  own.left = true;
  const std::lock_guard lock(mutex_);
  if (use == Use::kFailed) own.generation = std::max(own.generation, newest_);
  if (use != Use::kNone) own.first = own.generation + 1;
  RINGLET_TRY(Put(own));
  // A TCPStore does not acknowledge Set, and this process may end now. Without an answer on the
  // same connection, the note of its successor could reach the store before this one.
  RINGLET_TRY(store_.Find(KeyOf(self_.rank)));
  return Ok();
}

Presence::State Presence::Of(std::uint32_t rank, bool closely) {
  const std::lock_guard lock(mutex_);
  Known& known = known_[rank];
  if (known.state == State::kGone || known.state == State::kLeft) return known.state;
  if (closely && !known.beacon_probe) ReadStateFromStore(rank, known);
  const bool gone = known.beacon_probe && known.beacon_probe->IsGone();
  if (gone || known.looks++ % kLooksPerRequest == 0) ReadStateFromStore(rank, known);
  if (gone && known.state != State::kLeft) known.state = State::kGone;
  return known.state;
}

void Presence::RecordBeacon(std::uint32_t rank, const Address& beacon) {
  const std::lock_guard lock(mutex_);
  Known& known = known_[rank];
  if (known.state != State::kUnknown) return;
  known.beacon_probe = comm::BeaconProbe::Of(beacon);
  known.state = State::kThere;
}

void Presence::ReadStateFromStore(std::uint32_t rank, Known& known) {
  const auto found = NoteOf(rank);
  // A store that does not answer any more gives no state of the rank.
  if (!found.ok() || !*found || (*found)->generation < generation_) return;
  const PresenceRecord& record = **found;
  newest_ = std::max(newest_, record.generation);
  if (record.left || record.generation > generation_) {
    known.state = State::kLeft;
    return;
  }
  if (known.beacon_probe || !record.beacon) return;
  known.beacon_probe = comm::BeaconProbe::Of(*record.beacon);
  known.state = State::kThere;
}

std::string AbsenceReason(Presence& presence, std::uint32_t rank) {
  switch (presence.Of(rank)) {
    case Presence::State::kGone: return fmt::format("rank {} is lost: its process has ended", rank);
    case Presence::State::kLeft: return fmt::format("rank {} has left the process group", rank);
    case Presence::State::kThere:
    case Presence::State::kUnknown: break;
  }
  return "";
}

std::string AbsenceReason(Presence& presence, std::uint32_t end, std::uint32_t but) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < end; ++rank)
    if (rank != but) ranks.push_back(rank);
  auto absent = AbsenceReason(presence, ranks);
  return absent.empty() ? "" : std::move(absent.front().second);
}

std::vector<std::pair<std::uint32_t, std::string>> AbsenceReason(
    Presence& presence, const std::vector<std::uint32_t>& ranks) {
  bool left = false;
  for (const std::uint32_t rank : ranks) left |= presence.Of(rank) == Presence::State::kLeft;
  std::vector<std::pair<std::uint32_t, std::string>> gone_first;
  for (const Presence::State state : {Presence::State::kGone, Presence::State::kLeft}) {
    for (const std::uint32_t rank : ranks) {
      // A rank that lived at the first look may have died since then, and another rank may have
      // left because of that. So the second look is close.
      if (presence.Of(rank, left) == state)
        gone_first.emplace_back(rank, AbsenceReason(presence, rank));
    }
  }
  return gone_first;
}

}  // namespace ringlet::torch_api
