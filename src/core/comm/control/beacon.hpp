// A beacon lets other processes detect the end of this one. Opens the beacon of os/net/beacon.hpp
// at an address of the process.
#pragma once
#include <memory>

#include "comm/process/process.hpp"
#include "os/net/beacon.hpp"

namespace ringlet::comm {

using BeaconProbe = os::BeaconProbe;
using os::HasConnectionTo;

class Beacon {
 public:
  /// Errors  kInvalidArgument, kSystem  no address to listen at
  static Result<std::shared_ptr<Beacon>> Start(Process& process);

  const Address& address() const { return listener_.address; }
  /// Returns the descriptor that the child of a fork must close. It would keep the beacon lit after
  /// the end of its parent.
  int descriptor() const { return listener_.fd.get(); }

 private:
  explicit Beacon(os::Listener listener) : listener_(std::move(listener)) {}
  const os::Listener listener_;
};

}  // namespace ringlet::comm
