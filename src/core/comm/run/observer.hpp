// Observers of the operations of a communicator, which have no part in them: profiler plug-ins and
// fault injection. The flight recorder, which writes down every operation, belongs to the control
// network (control/recorder.hpp): it answers when other ranks ask.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "collective/exec/messages.hpp"
#include "comm/backend/backend.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/process/config.hpp"

namespace ringlet::comm {

/// Called by the thread that runs the operations. Operations follow each other: each one ends
/// before the next begins.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The communicator stands. Once, before its first operation.
  /// \param name  the user's; null: none
  virtual void Formed(const char* /*name*/) {}
  /// A collective begins.
  virtual void Began(const collective::Call& /*call*/) {}
  /// Messages that run together begin. \param messages  not empty
  virtual void BeganMessages(std::span<const collective::Message> /*messages*/) {}
  /// The operation is over or has failed.
  virtual void Ended() {}
};

/// The observers that the user's settings ask for. \param backend  outlives them
std::vector<std::unique_ptr<Observer>> ObserversOf(const Origin& origin,
                                                   const PeerTable& peer_table,
                                                   const Backend& backend);

}  // namespace ringlet::comm
