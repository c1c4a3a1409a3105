// The callers of a driver's machines that arrive through entrances. Each waits until its machine
// accepts callers and no machine handles an event.
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
  /// Closes the entrances, because their other holders must not call a destroyed object.
  ~EntranceCallers();
  EntranceCallers(const EntranceCallers&) = delete;
  EntranceCallers& operator=(const EntranceCallers&) = delete;

  /// \param admit  the entrance calls it on any thread; on the driver's thread it calls Put
  void Open(MachineId id, std::shared_ptr<Entrance> entrance, std::function<void(Caller)> admit);
  void Close(MachineId id);

  void Put(MachineId id, Caller caller);
  /// Admits the waiting callers. Put does not, because their machine may be handling an event.
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
  std::set<MachineId> called_;  // machines with waiting callers
};

}  // namespace ringlet::os
