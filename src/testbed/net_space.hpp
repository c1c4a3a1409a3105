// Networks of their own (Linux network namespaces), each with Ethernet interfaces whose other
// ends this process holds: what is sent there can be read here, and the other way round. Nothing of
// them has a name, so that they are gone, whatever happens, when no process holds them any more.
#pragma once
#include <poll.h>

#include <span>
#include <string>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/wire/machine.hpp"
#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::testbed {

struct NetSpace {
  os::Fd space;               ///< holds the namespace
  std::vector<os::Fd> wires;  ///< the other ends of its interfaces eth0, eth1, ...; not blocking
};

struct NetSpaceOptions {
  std::uint8_t number = 1;  ///< its address at ethN is 10.213.N.NUMBER/24, its MACs end with it
  std::uint8_t interfaces = 1;
  std::uint32_t mbit_per_s = 0;  ///< the speed that the interface tells; nothing enforces it
};

/// Makes one, with its loopback and its interfaces up.
/// Errors  kUnsupported  this process may not, or the kernel cannot: says what it takes
Result<NetSpace> MakeNetSpace(const NetSpaceOptions& options);

/// Moves this process into the namespace that `path` names, with a /sys that shows it. Before it
/// has threads. Errors  kSystem
Status EnterNetSpace(const std::string& path);

/// Gives this process, and those that it starts, a host name of their own. Errors  kSystem
Status NameHost(const std::string& name);

/// Becomes another program, found by PATH. Returns only where that fails. Errors  kSystem
Error BecomeProgram(std::vector<std::string> arguments);

/// The time of a frame: Linux makes frames of at most 64 KiB of many packets; and the headers.
inline constexpr std::size_t kFrameBytesMax = (std::size_t{64} << 10) + 512;
/// One frame, as Linux's virtio header and what is on the cable; it may be as long as many packets.
/// Its bytes; 0 where there is none. Errors count as none. \param into  kFrameBytesMax
std::size_t ReadFrame(const os::Fd& wire, std::span<std::byte> into);
/// A frame that does not fit is lost, as on a cable.
void WriteFrame(const os::Fd& wire, View frame);

/// Waits for frames of several wires.
class WireWatch {
 public:
  /// They outlive this. Errors  kSystem
  static Result<WireWatch> Make(std::span<const os::Fd* const> wires);

  /// Until one of the wires has a frame, or this moment of Now(). A timer that is set anyhow is not
  /// set again: in a virtual machine that costs more than the rest of a wait.
  void Await(Instant until);
  /// Whether the wire had a frame when Await ended; all may have had before the first.
  bool HasFrame(std::size_t wire) const { return (entries_[wire + 1].revents & kSome) != 0; }

 private:
  static constexpr short kSome = POLLIN | POLLERR | POLLHUP;
  WireWatch(os::Fd timer, std::span<const os::Fd* const> wires);

  os::Fd timer_;
  std::vector<pollfd> entries_;  // the timer, and the wires
  Instant set_{0};               // when the timer ends
};

/// For the thread that carries frames: it runs when it wants to, where that is allowed, and is
/// woken in time. Elsewhere delays are longer by what the machine is busy with.
void BecomeTimely();

}  // namespace ringlet::testbed
