// Passive observers of a communicator's operations: profiler plug-ins, fault injection and
// recovery. The flight recorder also records every operation. It belongs to the control network
// (control/recorder.hpp), because it answers queries of other ranks.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "collective/exec/messages.hpp"
#include "comm/backend/backend.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/process/config.hpp"

namespace ringlet::comm {

/// Called by the thread that runs the operations. Each operation ends before the next begins.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The communicator is formed. Called once, before its first operation.
  /// \param name  the user's, or null
  virtual void Formed(const char* /*name*/) {}
  /// A collective begins.
  virtual void Began(const collective::Call& /*call*/) {}
  /// Messages that run together begin. \param messages  not empty
  virtual void BeganMessages(std::span<const collective::Message> /*messages*/) {}
  /// The operation is over or has failed.
  virtual void Ended() {}
  /// Returns true if it needs no more calls. It is then destroyed after an operation.
  virtual bool is_done() const { return false; }
};

/// Returns the observers that the user's settings request, and one for the first result of a
/// communicator that continues a failed one. \param backend, control  outlive them
std::vector<std::unique_ptr<Observer>> ObserversOf(const Origin& origin,
                                                   const PeerTable& peer_table,
                                                   const Backend& backend, Control& control);

}  // namespace ringlet::comm
