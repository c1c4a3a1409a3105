// The port at which a process answers clients of NCCL's RAS, open while it has a communicator.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/value/address.hpp"
#include "os/driver/socket_driver.hpp"
#include "watch/job.hpp"

namespace ringlet::watch {
class RasServer;
class Questions;
}  // namespace ringlet::watch

namespace ringlet::comm {

class Process;
class StatusGathering;

class RasPort {
 public:
  /// \param process  outlives the threads that serve this. \param at  a loopback address
  RasPort(Process& process, Address at) : process_(process), at_(std::move(at)) {}
  RasPort(const RasPort&) = delete;
  RasPort& operator=(const RasPort&) = delete;

  /// Listens, soon, unless it does already. Any thread. A port that is taken is a warning.
  void Open();

 private:
  // All on the first service thread.
  void OpenNow();
  void Look();
  void AskNeighbours(std::uint64_t look);
  void OnPart(std::uint64_t look);
  std::vector<watch::JobStatus> Jobs() const;

  Process& process_;
  const Address at_;
  std::shared_ptr<watch::RasServer> server_;
  os::SocketDriver::Id id_ = 0;
  bool listens_ = false;
  // Of the last look: two parts, the process's own ranks with their peers, and its neighbours'.
  std::uint64_t looks_ = 0;
  std::size_t pending_ = 0;
  std::shared_ptr<StatusGathering> own_;
  std::vector<watch::ProcessStatus> neighbours_;
};

}  // namespace ringlet::comm
