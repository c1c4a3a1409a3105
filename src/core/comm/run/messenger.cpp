#include "comm/run/messenger.hpp"

#include <fmt/format.h>

namespace ringlet::comm {

std::span<const collective::Message> Messenger::Collect(std::span<const Transfer> transfers,
                                                        std::uint64_t sequence) {
  messages_.clear();
  for (const Transfer& transfer : transfers) {
    const std::size_t bytes = transfer.count * SizeOf(transfer.type);
    messages_.push_back({.peer = transfer.peer,
                         .sends = transfer.sends,
                         .fingerprint = {.sequence = sequence,
                                         .operation = CallKind::kSendReceive,
                                         .type = transfer.type,
                                         .count = transfer.count,
                                         .root = transfer.sends ? transfer.peer : self_},
                         .from = transfer.from,
                         .to = transfer.to,
                         .sent = transfer.sends ? backend_.CountMessage(transfer.peer, bytes,
                                                                        CallKind::kSendReceive)
                                                : nullptr});
  }
  return messages_;
}

Result<Started> Messenger::Start(std::uint64_t sequence) {
  if (running_.Start(messages_, links_.finder())) return Started(running_);
  return StartedBy(
      links_.Exchange(messages_, fmt::format("a message after {} collectives", sequence)));
}

}  // namespace ringlet::comm
