#include "comm/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "comm/process_proof.hpp"
#include "comm/stages.hpp"
#include "os/clock.hpp"
#include "os/random.hpp"
#include "transport/shm/arena_meeting.hpp"

namespace ringlet::comm {
namespace {

using transport::ArenaOffer;
using transport::ArenaRequest;
using transport::ArenaShape;

constexpr std::size_t kReasonBytesMax = 400;

bool OnOneHost(const Census& census) {
  const Card& first = census.cards.front();
  return std::all_of(census.cards.begin(), census.cards.end(), [&](const Card& card) {
    return card.host_hash == first.host_hash && card.network_namespace == first.network_namespace;
  });
}

bool Wanted(const Settings& settings) {
  return settings.host_memory && !settings.shm_disable && settings.links == LinkChoice::kAuto;
}

Result<ArenaRequest> RequestFor(const Origin& origin, std::uint32_t ranks, Instant deadline) {
  ArenaRequest request{.credentials = origin.credentials,
                       .nonce_seed = {},
                       .host = origin.process->host().name,
                       .members = {},
                       .self = origin.config.rank,
                       .shape = {.ranks = ranks},
                       .deadline = deadline};
  RINGLET_TRY_ASSIGN(request.nonce_seed, os::SecureRandom());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) request.members.push_back(Rank{rank});
  return request;
}

// Tells all whether this rank is fine. The first of those that are not, and why; empty: all are.
Result<std::optional<std::string>> WhatIsWrong(Control& control, const Status& mine,
                                               std::chrono::milliseconds timeout) {
  std::string why = mine.ok() ? "" : mine.error().message.substr(0, kReasonBytesMax);
  if (!mine.ok() && why.empty()) why = "no reason";
  const View text = AsView(why);
  RINGLET_TRY_ASSIGN(const bootstrap::Table all,
                     control.AllGather(Bytes(text.begin(), text.end()), timeout));
  for (std::uint32_t rank = 0; rank < all.size(); ++rank)
    if (const View said = all.At(Rank{rank}); !said.empty())
      return std::optional(fmt::format(
          "{}: {}", control.roster().DescribeRank(Rank{rank}),
          Printable({reinterpret_cast<const char*>(said.data()), said.size()}, kReasonBytesMax)));
  return std::optional<std::string>();
}

template <typename T>
Status StatusOf(const Result<T>& result) {
  if (result.ok()) return Ok();
  return result.error();
}

}  // namespace

HostMemory::HostMemory(const Origin& origin, const Census& census, collective::Patience patience)
    : self_(origin.config.rank),
      ranks_(origin.config.size),
      patience_(patience),
      buffers_(std::make_shared<transport::SharedBuffers>()),
      reach_{.shared = buffers_,
             .near = origin.process->NearBuffersOf(origin.credentials.secret, ranks_),
             .is_near = {}} {
  const std::uint64_t here = origin.process->process_hash();
  for (const Card& card : census.cards) reach_.is_near.push_back(card.process_hash == here);
  const bool fits = ranks_ > 1 && ranks_ <= ArenaShape::kRanksMax;
  if (fits && Wanted(origin.process->settings()) && OnOneHost(census)) state_ = State::kUnmade;
}

Status HostMemory::Make(const Origin& origin, Control& control, std::chrono::milliseconds timeout,
                        const std::stop_token& stop) {
  Process& process = *origin.process;
  const auto refuse = [&](const std::string& why) {
    if (origin.config.rank == 0)
      process.WarnOnce("collectives of one host go over links, for want of shared memory: " + why);
    return Ok();
  };
  RINGLET_TRY_ASSIGN(const ArenaRequest request, RequestFor(origin, ranks_, os::Now() + timeout));
  Result<ArenaOffer> offer = transport::OfferArena(request);
  RINGLET_TRY_ASSIGN(auto wrong, WhatIsWrong(control, StatusOf(offer), timeout));
  if (wrong) return refuse(*wrong);
  const transport::ArenaTools tools{
      .driver = process.driver(), .abort = stop, .note = ToolsOf(process).note};
  auto arena = transport::ShareArena(request, std::move(offer).value(), tools);
  if (!arena.ok() && arena.error().code == Code::kAborted) return arena.error();
  RINGLET_TRY_ASSIGN(wrong, WhatIsWrong(control, StatusOf(arena), timeout));
  if (wrong) return refuse(*wrong);
  RINGLET_TRY_ASSIGN(processes_, ProveProcesses(control, Rank{self_}, timeout));
  made_ = std::move(arena).value();
  return Ok();
}

void HostMemory::Take() {
  if (!made_) {
    state_ = State::kNever;
    return;
  }
  buffers_->Publish(made_, self_);
  buffers_->KnowProcesses(std::move(processes_));
  collective::HostTuning tuning;
  if (patience_.looks > 0) tuning.fetch_bytes = collective::FetchSizes::WithCores();
  auto engine = std::make_unique<collective::HostEngine>(std::move(made_), self_, patience_, tuning,
                                                         std::move(reach_));
  const std::lock_guard lock(mutex_);
  engine_ = std::move(engine);
  state_ = State::kHere;
}

void HostMemory::Leave() {
  if (engine_) engine_->Leave();
}

void HostMemory::GiveUp() {
  const std::lock_guard lock(mutex_);
  if (engine_) engine_->GiveUp();
}

}  // namespace ringlet::comm
