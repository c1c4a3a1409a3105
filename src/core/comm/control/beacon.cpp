#include "comm/control/beacon.hpp"

namespace ringlet::comm {

Result<std::shared_ptr<Beacon>> Beacon::Start(Process& process) {
  RINGLET_TRY_ASSIGN(const auto addresses, process.host_reader().ReachableAddresses());
  RINGLET_TRY_ASSIGN(auto listener, os::Listen(addresses.front()));
  return std::shared_ptr<Beacon>(new Beacon(std::move(listener)));
}

}  // namespace ringlet::comm
