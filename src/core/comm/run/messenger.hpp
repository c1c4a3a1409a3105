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
  /// Begins the collected messages. Errors  as LinksOnDemand::Exchange
  Result<Started> Start(std::uint64_t sequence);

 private:
  LinksOnDemand& links_;
  Backend& backend_;
  const Rank self_;
  std::vector<collective::Message> messages_;
  collective::Messages running_;
};

}  // namespace ringlet::comm
