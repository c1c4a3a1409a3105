#include "transport/inproc/inproc.hpp"

#include <sys/eventfd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "transport/shm/pipe_link.hpp"

namespace ringlet::transport {
namespace {

std::shared_ptr<InprocChannel> MakeChannel(std::size_t pipe_bytes) {
  const std::size_t footprint = PipeFootprint(pipe_bytes);
  constexpr std::size_t kAlignment = alignof(PipeHeader);
  auto channel = std::make_shared<InprocChannel>();
  auto* const memory =
      static_cast<std::byte*>(::operator new[](2 * footprint, std::align_val_t(kAlignment)));
  std::memset(memory, 0, 2 * footprint);
  channel->memory = {memory,
                     [](std::byte* p) { ::operator delete[](p, std::align_val_t(kAlignment)); }};
  for (std::size_t i = 0; i < 2; ++i)
    channel->pipes[i] = PipePlace::At(std::span(memory + i * footprint, footprint), pipe_bytes);
  return channel;
}

}  // namespace

InprocExchange::Key InprocExchange::KeyOf(const RankPair& pair) {
  return {pair.magic, std::min(pair.self, pair.peer), std::max(pair.self, pair.peer)};
}

void InprocExchange::Arrive(const RankPair& pair, std::shared_ptr<RankBell> bell,
                            std::size_t pipe_bytes) {
  const std::lock_guard lock(mutex_);
  PairEntry& entry = entries_[KeyOf(pair)];
  if (!entry.channel) entry.channel = MakeChannel(pipe_bytes);
  entry.channel->bells[SideOf(pair)] = std::move(bell);
  changed_.notify_all();
  if (const auto& first = entry.channel->bells[1 - SideOf(pair)]) first->waiter->Wake();
}

Result<std::shared_ptr<InprocChannel>> InprocExchange::Await(const RankPair& pair, Instant deadline,
                                                             const std::stop_token& abort) {
  std::unique_lock lock(mutex_);
  const auto until = std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(deadline));
  std::shared_ptr<InprocChannel> channel;
  changed_.wait_until(lock, abort, until, [&] { return (channel = TakeLocked(pair)) != nullptr; });
  if (channel) return channel;
  if (abort.stop_requested())
    return Error{Code::kAborted,
                 fmt::format("aborted while rank {} waited for rank {} of its process",
                             Index(pair.self), Index(pair.peer))};
  return Error{Code::kTimeout,
               fmt::format("rank {} of this process did not connect with rank {} in time",
                           Index(pair.peer), Index(pair.self))};
}

std::shared_ptr<InprocChannel> InprocExchange::Take(const RankPair& pair) {
  const std::lock_guard lock(mutex_);
  return TakeLocked(pair);
}

std::shared_ptr<InprocChannel> InprocExchange::TakeLocked(const RankPair& pair) {
  const auto it = entries_.find(KeyOf(pair));
  const std::size_t side = SideOf(pair);
  if (it == entries_.end() || !it->second.channel->bells[1 - side]) return nullptr;
  std::shared_ptr<InprocChannel> channel = it->second.channel;
  it->second.taken[side] = true;
  if (it->second.taken[1 - side]) entries_.erase(it);
  return channel;
}

std::shared_ptr<const os::Fd> InprocExchange::Made(std::shared_ptr<const os::Fd>& event,
                                                   unsigned count) {
  const std::lock_guard lock(mutex_);
  if (event) return event;
  os::Fd made(::eventfd(count, EFD_NONBLOCK | EFD_CLOEXEC));
  if (made.valid()) event = std::make_shared<const os::Fd>(std::move(made));
  return event;
}

void InprocExchange::Withdraw(const RankPair& pair) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(KeyOf(pair));
  if (it == entries_.end()) return;
  const std::size_t side = SideOf(pair);
  InprocChannel& channel = *it->second.channel;
  if (it->second.taken[side] || !channel.bells[side]) return;
  if (!channel.bells[1 - side]) {
    entries_.erase(it);  // no other thread has seen it
    return;
  }
  // The peer has arrived and may be working already. It receives a link with a closed other end.
  channel.pipes[side].header->writer_closed.store(1);
  channel.pipes[1 - side].header->reader_closed.store(1);
  channel.bells[1 - side]->waiter->button().Ring();
  it->second.taken[side] = true;
  if (it->second.taken[1 - side]) entries_.erase(it);
}

std::unique_ptr<Link> MakeInprocLink(std::shared_ptr<InprocChannel> channel, Rank self, Rank peer,
                                     const std::string& peer_host, const RtsSizes& offers) {
  const std::size_t side = self < peer ? 0 : 1;
  const DoorbellButton bell = channel->bells[1 - side]->waiter->button();
  std::mutex *const own_offer = &channel->offers[side], *const peer_offer =
                                                            &channel->offers[1 - side];
  return std::make_unique<PipeLink>(
      PipeLinkParts{.peer = peer,
                    .peer_name = fmt::format("rank {} on {} (inproc)", Index(peer), peer_host),
                    .kind = "inproc",
                    .out = PipeWriter(channel->pipes[side], bell),
                    .in = PipeReader(channel->pipes[1 - side], bell),
                    .memory = std::move(channel),
                    .own_offer = own_offer,
                    .peer_offer = peer_offer,
                    .offers = offers});
}

Status InprocTransport::Expect(std::span<const Neighbour* const> peers) {
  for (const Neighbour* peer : peers)
    parts_.exchange.Arrive(PairWith(*peer), parts_.bell, parts_.pipe_bytes);
  return Ok();
}

Status InprocTransport::Await(const Neighbour& peer, Instant deadline,
                              const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(awaited_[peer.rank], parts_.exchange.Await(PairWith(peer), deadline, abort));
  return Ok();
}

Result<std::unique_ptr<Link>> InprocTransport::Make(const Neighbour& peer,
                                                    std::span<PeerConnection>) {
  auto awaited = awaited_.extract(peer.rank);
  auto channel = awaited ? std::move(awaited.mapped()) : parts_.exchange.Take(PairWith(peer));
  if (!channel) return std::unique_ptr<Link>();
  return MakeInprocLink(std::move(channel), parts_.self, peer.rank, peer.host, parts_.rts->sizes);
}

// Makes the peer fail at once instead of at its deadline.
void InprocTransport::Withdraw(const Neighbour& peer) {
  parts_.exchange.Withdraw(PairWith(peer));
}

}  // namespace ringlet::transport
