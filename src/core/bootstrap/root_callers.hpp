// The connections on which members have checked in at a root, and the root's frames on them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/wire/acceptor.hpp"
#include "base/wire/machine.hpp"
#include "bootstrap/roster.hpp"

namespace ringlet::bootstrap {

struct RootCaller {
  LineId line;
  Wire wire;
  Instant heard;                          ///< when its last bytes arrived
  std::uint32_t rank;                     ///< the member's
  Bytes record;                           ///< its encoded member address
  std::vector<std::uint32_t> ranks = {};  ///< the ranks that checked in on this connection
  std::optional<RosterInbox> section = {};
  bool ready = false;
};

class RootCallers {
 public:
  explicit RootCallers(std::function<void(Action)> emit) : emit_(std::move(emit)) {}

  RootCaller& Add(RootCaller root_caller);
  RootCaller* Find(LineId line);
  std::optional<RootCaller> Take(LineId line);

  void Transmit(RootCaller& root_caller, const Slice& frame) {
    emit_(Send{root_caller.line, root_caller.wire.Seal(frame)});
  }
  /// Does nothing if the connection is closed.
  void Transmit(LineId line, Bytes frame);
  void SendToAll(const SharedBytes& frame, std::optional<LineId> but = {});
  /// Sends a beat on every connection. Returns a connection that has been silent for `silence_max`,
  /// or empty.
  /// \param asleep  this process slept, so the silence of others is not evidence
  std::optional<LineId> SendHeartbeats(Instant now, Instant silence_max, bool asleep);
  /// Closes every connection after `last_word`. Returns the ranks that checked in on them.
  std::set<std::uint32_t> HangUp(const SharedBytes& last_word = nullptr);

 private:
  std::function<void(Action)> emit_;
  std::map<LineId, RootCaller> root_callers_;
};

}  // namespace ringlet::bootstrap
