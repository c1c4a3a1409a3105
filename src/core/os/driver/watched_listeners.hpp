// The listeners of a driver's machines. Each caller becomes a line of the machine, and is turned
// away where no descriptor is left for it.
//
// Bounds: at most kAcceptsPerTurn callers of one listener in a turn. After kStrangersMax callers
// that did not begin with the machine's greeting, the kernel drops those that do not.
#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "os/driver/driver_counters.hpp"
#include "os/driver/hosted_machines.hpp"
#include "os/driver/lines.hpp"
#include "os/driver/poller.hpp"
#include "os/net/listener.hpp"

namespace ringlet::os {

class WatchedListeners {
 public:
  WatchedListeners(Poller& poller, HostedMachines& machines, Lines& lines, DriverTally& tally);

  void Open(MachineId id, std::vector<Listener> listeners);
  void Close(MachineId id);
  /// False: a caller that comes from now on waits in the kernel's queue.
  void SetAccepting(MachineId id, bool accepting);

  bool Has(Token token) const { return listeners_.contains(token); }
  /// Takes in the callers that wait at this listener.
  void OnReady(Token token);

 private:
  struct OpenListener {
    Listener listener;
    MachineId owner = 0;
    std::uint32_t strangers = 0;  // callers that began as no rank does
    bool guarded = false;         // by a filter, because of them
  };

  bool AcceptOne(Token token, OpenListener& open);
  void TurnAway(const OpenListener& open);
  void OnStranger(OpenListener& open);
  bool IsGreeted(MachineId id) const;

  Poller& poller_;
  HostedMachines& machines_;
  Lines& lines_;
  DriverTally& tally_;
  const bool holds_callers_;  // the kernel does
  Fd spare_;                  // given up to accept a caller where no descriptor is left
  std::unordered_map<Token, OpenListener> listeners_;
  std::unordered_map<MachineId, std::vector<Token>> of_machines_;
};

}  // namespace ringlet::os
