// Parts of a driver without its loop. A test supplies the events and checks the actions.
#pragma once
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "os/driver/driven_for_test.hpp"
#include "os/driver/hosted_machines.hpp"
#include "os/driver/lines.hpp"
#include "os/driver/poller.hpp"

namespace ringlet::os {

/// Two connected non-blocking UNIX sockets.
inline std::pair<Fd, Fd> SocketPair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

class DriverParts : public testing::Test, public MachineActions {
 public:
  void Apply(MachineId id, Action action) override { applied.emplace_back(id, std::move(action)); }
  void SetAccepting(MachineId id, bool accepting) override {
    accepting_set.emplace_back(id, accepting);
  }

 protected:
  MachineId Host(const std::shared_ptr<ScriptedMachine>& machine) {
    return machines.Add({.machine = machine, .listeners = {}});
  }

  DriverTally tally;
  Poller poller{Fd(::epoll_create1(EPOLL_CLOEXEC)), tally};
  HostedMachines machines{*this};
  Lines lines{poller, machines, tally};
  std::shared_ptr<ScriptedMachine> puppet = std::make_shared<ScriptedMachine>();
  std::vector<std::pair<MachineId, Action>> applied;
  std::vector<std::pair<MachineId, bool>> accepting_set;
};

}  // namespace ringlet::os
