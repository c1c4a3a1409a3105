#include "comm/run/check_work.hpp"

#include <fmt/format.h>

#include <utility>

namespace ringlet::comm {
namespace {

Error Refused(std::string why) {
  return {.code = Code::kInvalidArgument, .message = std::move(why)};
}

bool Overlapping(View a, View b) {
  return !a.empty() && !b.empty() && a.data() < b.data() + b.size() &&
         b.data() < a.data() + a.size();
}

/// Checks that portions lie within `bytes` of memory.
Status CheckWithin(const Portions& portions, std::uint32_t ranks, DataType type, std::size_t bytes,
                   const char* what) {
  if (portions.counts.size() != ranks || portions.displacements.size() != ranks)
    return Refused(fmt::format("all_to_all_v {} {} counts and {} displacements among {} ranks",
                               what, portions.counts.size(), portions.displacements.size(), ranks));
  const std::size_t elements = bytes / SizeOf(type);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::size_t begin = portions.displacements[rank], count = portions.counts[rank];
    if (begin <= elements && count <= elements - begin) continue;
    return Refused(fmt::format(
        "all_to_all_v {} {} elements at {} for rank {}, beyond the {} elements of its buffer", what,
        count, begin, rank, elements));
  }
  return Ok();
}

/// Returns the memory of a portion.
template <typename Span>
Span PortionOf(Span all, const Portions& portions, Rank rank, DataType type) {
  return all.subspan(portions.displacements[Index(rank)] * SizeOf(type),
                     portions.counts[Index(rank)] * SizeOf(type));
}

}  // namespace

Status CheckPortions(const AllToAllVCall& call, std::uint32_t ranks) {
  RINGLET_TRY(CheckWithin(call.sent, ranks, call.type, call.input.size(), "sends"));
  RINGLET_TRY(CheckWithin(call.received, ranks, call.type, call.output.size(), "receives"));
  if (Overlapping(call.input, call.output))
    return Refused("input and output of all_to_all_v overlap");
  return Ok();
}

Status CheckTransfer(const Transfer& transfer, std::uint32_t ranks) {
  if (Index(transfer.peer) >= ranks)
    return Refused(fmt::format("a message {} rank {}, which is not below the number of ranks, {}",
                               transfer.sends ? "to" : "from", Index(transfer.peer), ranks));
  RINGLET_TRY(collective::CheckCount(transfer.count, transfer.type, 1));
  const std::size_t bytes = transfer.sends ? transfer.from.size() : transfer.to.size();
  if (bytes == transfer.count * SizeOf(transfer.type)) return Ok();
  return Refused(fmt::format("{} elements of {} are not {} bytes of message", transfer.count,
                             Name(transfer.type), bytes));
}

Status CheckSignal(Rank peer, const Signal& signal, std::uint32_t ranks) {
  if (Index(peer) >= ranks)
    return Refused(fmt::format("a signal of rank {}, which is not below the number of ranks, {}",
                               Index(peer), ranks));
  if (signal.Exists()) return Ok();
  return Refused(fmt::format("signal {} of context {}: there are at most {} contexts of {} each",
                             signal.number, signal.context, Signal::kContextsMax,
                             Signal::kNumbersMax));
}

Status CheckWait(const SignalWait& wait, std::uint32_t ranks) {
  for (const SignalCount& count : wait.counts)
    RINGLET_TRY(CheckSignal(count.peer, count.signal, ranks));
  return Ok();
}

std::vector<collective::Message> MessagesOf(const AllToAllVCall& call, collective::CallPlace place,
                                            std::uint64_t sequence) {
  std::vector<collective::Message> messages;
  for (std::uint32_t distance = 0; distance < place.ranks; ++distance) {
    const Rank to{(Index(place.self) + distance) % place.ranks};
    const Rank from{(Index(place.self) + place.ranks - distance) % place.ranks};
    const auto fingerprint = [&](const Portions& portions, Rank peer, Rank receiver) {
      return collective::Fingerprint{.sequence = sequence,
                                     .operation = CallKind::kAllToAllV,
                                     .type = call.type,
                                     .count = portions.counts[Index(peer)],
                                     .root = receiver};
    };
    messages.push_back({.peer = to,
                        .sends = true,
                        .fingerprint = fingerprint(call.sent, to, to),
                        .from = PortionOf(call.input, call.sent, to, call.type)});
    messages.push_back({.peer = from,
                        .fingerprint = fingerprint(call.received, from, place.self),
                        .to = PortionOf(call.output, call.received, from, call.type)});
  }
  return messages;
}

}  // namespace ringlet::comm
