// The callers of a driver's machines that come through entrances. Each waits until its machine
// accepts callers, and until no machine handles an event.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>

#include "os/driver/hosted_machines.hpp"
#include "os/driver/lines.hpp"
#include "os/net/entrance.hpp"

namespace ringlet::os {

class EntranceCallers {
 public:
  EntranceCallers(HostedMachines& machines, Lines& lines) : machines_(machines), lines_(lines) {}
  /// Other holders of an entrance must not call what is gone.
  ~EntranceCallers();
  EntranceCallers(const EntranceCallers&) = delete;
  EntranceCallers& operator=(const EntranceCallers&) = delete;

  /// \param admit  given to the entrance, which calls it on any thread; on the driver's it calls
  /// Put
  void Open(MachineId id, std::shared_ptr<Entrance> entrance, std::function<void(Caller)> admit);
  void Close(MachineId id);

  void Put(MachineId id, Caller caller);
  /// Takes in the callers that wait. Put does not, as their machine may be handling an event.
  void AdmitWaiting();

 private:
  struct Visited {
    std::shared_ptr<Entrance> entrance;
    Entrance::Visit visit = 0;
    std::deque<Caller> waiting = {};
  };
  bool AdmitNext(MachineId id);

  HostedMachines& machines_;
  Lines& lines_;
  std::unordered_map<MachineId, Visited> entrances_;
  std::set<MachineId> called_;  // machines that callers wait for
};

}  // namespace ringlet::os
