// How other processes see that this one has ended: os/net/beacon.hpp, at the addresses of a
// process.
#pragma once
#include <memory>

#include "comm/process/process.hpp"
#include "os/net/beacon.hpp"

namespace ringlet::comm {

using Sight = os::Sight;
using os::HasConnectionTo;

class Beacon {
 public:
  /// Errors  kInvalidArgument, kSystem  there is nowhere to listen
  static Result<std::shared_ptr<Beacon>> Light(Process& process);

  const Address& address() const { return listener_.address; }
  /// For the child of a fork, which would keep it lit after its parent's end: the descriptor to be
  /// closed there.
  int descriptor() const { return listener_.fd.get(); }

 private:
  explicit Beacon(os::Listener listener) : listener_(std::move(listener)) {}
  const os::Listener listener_;
};

}  // namespace ringlet::comm
