// The messages between two ranks that a communicator runs together. It keeps their memory, so that
// messages on existing links allocate no memory.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "collective/exec/messages.hpp"
#include "comm/backend/backend.hpp"
#include "comm/backend/links_on_demand.hpp"
#include "comm/run/work.hpp"

namespace ringlet::comm {

/// Returns the call that a message is, for both of its ends.
inline collective::Fingerprint FingerprintOf(const Transfer& transfer, std::uint64_t sequence,
                                             Rank self) {
  return {.sequence = sequence,
          .operation = CallKind::kSendReceive,
          .type = transfer.type,
          .count = transfer.count,
          .root = transfer.sends ? transfer.peer : self};
}

/// Belongs to the thread that runs the operations.
class Messenger {
 public:
  /// \param links, backend  outlive this
  Messenger(LinksOnDemand& links, Backend& backend, Rank self)
      : links_(links), backend_(backend), self_(self), running_(self) {}

  /// Returns the messages of the next operation. Valid until the next call. The last one is done.
  /// \param sequence  collectives before them
  std::span<const collective::Message> Collect(std::span<const Transfer> transfers,
                                               std::uint64_t sequence);
  /// Runs messages below transport::kRtsBytesMin through existing links in memory, until a message
  /// has to wait. A receive looks `looks` times more before it gives up, unless a send remains.
  /// Returns the messages that remain: the sends, then the receives, each in their order. Valid
  /// until the next call. Allocates memory only if more messages remain than ever before.
  /// \param transfers  not empty
  std::span<const Transfer> RunSmall(std::span<const Transfer> transfers, std::uint64_t sequence,
                                     std::uint32_t looks);
  /// Begins the collected messages. Errors  as LinksOnDemand::Exchange
  Result<Started> Start(std::uint64_t sequence);

 private:
  LinksOnDemand& links_;
  Backend& backend_;
  const Rank self_;
  std::vector<Transfer> rest_;  // of RunSmall
  std::vector<collective::Message> messages_;
  collective::Messages running_;
};

}  // namespace ringlet::comm
