#include "comm/backend/sequence.hpp"

#include <utility>

namespace ringlet::comm {

Sequence::Sequence(std::vector<SubOperation> parts) {
  for (SubOperation& part : parts) {
    if (part.over_links) host_before_.push_back(host_.parts.size());
    (part.over_links ? links_ : host_).parts.push_back(std::move(part));
  }
}

Sequence::Made Sequence::Begin(std::vector<SubOperation> parts) {
  std::unique_ptr<Sequence> sequence(new Sequence(std::move(parts)));
  RINGLET_TRY(sequence->BeginNext());
  return std::unique_ptr<collective::Operation>(std::move(sequence));
}

std::unique_ptr<collective::Operation> Sequence::Of(std::unique_ptr<collective::Operation> first,
                                                    std::function<Made()> second) {
  std::vector<SubOperation> parts(2);
  parts[1].make = std::move(second);
  std::unique_ptr<Sequence> both(new Sequence(std::move(parts)));
  both->host_.running = std::move(first);
  both->host_.begun = 1;
  return both;
}

// A part begins after the parts that precede it in the list. However, a host part does not wait for
// a preceding part over links that it does not need.
Status Sequence::BeginNext() {
  const auto begin = [](Track& track) -> Status {
    RINGLET_TRY_ASSIGN(track.running, track.parts[track.begun].make());
    ++track.begun;
    return Ok();
  };
  if (!links_.running && !links_.IsOver() && host_.done() >= host_before_[links_.begun])
    RINGLET_TRY(begin(links_));
  if (!host_.running && !host_.IsOver() && links_.done() >= host_.parts[host_.begun].links_before)
    RINGLET_TRY(begin(host_));
  return Ok();
}

// Returns true if a part is done, so that another can begin.
Result<bool> Sequence::AdvanceTrack(Track& track) {
  if (!track.running) return false;
  RINGLET_TRY_ASSIGN(const bool done, track.running->Advance());
  moved_ = moved_ || done || track.running->moved();
  if (done) track.running.reset();
  return done;
}

Result<bool> Sequence::AdvanceBoth() {
  for (;;) {
    RINGLET_TRY_ASSIGN(const bool on_host, AdvanceTrack(host_));
    RINGLET_TRY_ASSIGN(const bool over_links, AdvanceTrack(links_));
    if (host_.IsOver() && links_.IsOver()) return true;
    if (!on_host && !over_links) return false;
    RINGLET_TRY(BeginNext());
  }
}

Result<bool> Sequence::Advance() {
  moved_ = false;
  if (error_) return *error_;
  auto done = AdvanceBoth();
  if (!done.ok()) error_ = done.error();
  return done;
}

void Sequence::Withdraw() {
  for (Track* const track : {&host_, &links_})
    if (track->running) track->running->Withdraw();
}

}  // namespace ringlet::comm
