// The port at which a process answers clients of NCCL's RAS. Open while it has a communicator.
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

class Diagnostics;
class StatusGathering;

class RasPort {
 public:
  /// \param process  outlives the threads that serve this. \param at  a loopback address
  RasPort(Diagnostics& process, Address at) : process_(process), at_(std::move(at)) {}
  RasPort(const RasPort&) = delete;
  RasPort& operator=(const RasPort&) = delete;

  /// Begins to listen soon, unless it listens already. Any thread. Warns if the port is taken.
  void Open();

 private:
  // Called on the first service thread only.
  void OpenNow();
  void Look();
  void QueryLocalProcesses(std::uint64_t look);
  void OnPart(std::uint64_t look);
  std::vector<watch::JobStatus> Jobs() const;

  Diagnostics& process_;
  const Address at_;
  std::shared_ptr<watch::RasServer> server_;
  os::SocketDriver::Id id_ = 0;
  bool listens_ = false;
  // The last look has two parts: own ranks with their peers, and the answers of neighbours.
  std::uint64_t looks_ = 0;
  std::size_t pending_ = 0;
  std::shared_ptr<StatusGathering> own_;
  std::vector<watch::ProcessStatus> neighbours_;
};

}  // namespace ringlet::comm
