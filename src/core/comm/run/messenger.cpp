#include "comm/run/messenger.hpp"

#include <fmt/format.h>

namespace ringlet::comm {
namespace {

/// Returns true if no link offers the message, so that only a header precedes its data.
bool IsSmall(const Transfer& transfer) {
  return transfer.from.size() + transfer.to.size() < transport::kRtsBytesMin;
}

}  // namespace

std::span<const collective::Message> Messenger::Collect(std::span<const Transfer> transfers,
                                                        std::uint64_t sequence) {
  messages_.clear();
  for (const Transfer& transfer : transfers) {
    const std::size_t bytes = transfer.count * SizeOf(transfer.type);
    messages_.push_back({.peer = transfer.peer,
                         .sends = transfer.sends,
                         .fingerprint = FingerprintOf(transfer, sequence, self_),
                         .from = transfer.from,
                         .to = transfer.to,
                         .sent = transfer.sends ? backend_.CountMessage(transfer.peer, bytes,
                                                                        CallKind::kSendReceive)
                                                : nullptr});
  }
  return messages_;
}

std::span<const Transfer> Messenger::RunSmall(std::span<const Transfer> transfers,
                                              std::uint64_t sequence, std::uint32_t looks) {
  // A machine counts its messages. If the first message is large, most are.
  if (!IsSmall(transfers.front()) || backend_.machine() != nullptr) return transfers;
  const auto run = [&](const Transfer& transfer) {
    transport::Link* const link = links_.links().Find(transfer.peer);
    if (link == nullptr || !IsSmall(transfer)) return false;
    const collective::Header header = collective::EncodeHeader(
        FingerprintOf(transfer, sequence, self_), transfer.sends ? self_ : transfer.peer);
    if (transfer.sends) return link->WriteWhole(header, transfer.from);
    auto read = link->ReadWhole(header, transfer.to);
    for (; read == transport::WholeRead::kNothing && looks > 0; --looks)
      read = link->ReadWhole(header, transfer.to);
    return read == transport::WholeRead::kDone;
  };
  rest_.clear();
  // Sends first, because peers wait for them. No message overtakes one that remains.
  for (const bool sends : {true, false}) {
    if (!rest_.empty()) looks = 0;
    bool runs = true;
    for (const Transfer& transfer : transfers) {
      if (transfer.sends != sends) continue;
      runs = runs && run(transfer);
      if (!runs) rest_.push_back(transfer);
    }
  }
  return rest_;
}

Result<Started> Messenger::Start(std::uint64_t sequence) {
  if (running_.Start(messages_, links_.finder())) return Started(running_);
  return StartedBy(
      links_.Exchange(messages_, fmt::format("a message after {} collectives", sequence)));
}

}  // namespace ringlet::comm
