// The listeners of a driver's machines. Each caller becomes a connection of the machine. A caller
// is turned away if no descriptor is left for it.
//
// Bounds: at most kAcceptsPerTurn callers of one listener per turn. After kStrangersMax callers
// without the machine's greeting, the kernel drops the data of such callers.
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
  /// If `accepting` is false, later callers wait in the kernel's queue.
  void SetAccepting(MachineId id, bool accepting);

  bool Has(Token token) const { return listeners_.contains(token); }
  /// Accepts the callers that wait at this listener.
  void OnReady(Token token);

 private:
  struct OpenListener {
    Listener listener;
    MachineId owner = 0;
    std::uint32_t strangers = 0;  // callers without the greeting
    bool guarded = false;         // by a filter, because of strangers
  };

  bool AcceptOne(Token token, OpenListener& open);
  void RejectCaller(const OpenListener& open);
  void OnUnidentifiedCaller(OpenListener& open);
  bool HasGreeted(MachineId id) const;

  Poller& poller_;
  HostedMachines& machines_;
  Lines& lines_;
  DriverTally& tally_;
  const bool holds_callers_;  // the kernel holds silent callers
  Fd spare_;                  // closed to accept a caller when no descriptor is left
  std::unordered_map<Token, OpenListener> listeners_;
  std::unordered_map<MachineId, std::vector<Token>> of_machines_;
};

}  // namespace ringlet::os
