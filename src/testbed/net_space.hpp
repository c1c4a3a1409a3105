// Linux network namespaces, each with Ethernet interfaces. This process holds the other ends, and
// reads and writes the frames there. The namespaces are unnamed, so they disappear with the last
// process that holds them.
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
  std::vector<os::Fd> wires;  ///< other ends of eth0, eth1, ...; non-blocking
};

struct NetSpaceOptions {
  std::uint8_t number = 1;  ///< ethN has 10.213.N.NUMBER/24, and a MAC ending in it
  std::uint8_t interfaces = 1;
  std::uint32_t mbit_per_s = 0;  ///< reported by the interface, not enforced
};

/// Creates a namespace with its loopback and its interfaces up.
/// Errors  kUnsupported  the process lacks rights, or the kernel lacks support; the message has the
///                       requirement
Result<NetSpace> MakeNetSpace(const NetSpaceOptions& options);

/// Moves this process into the namespace at `path`, with a matching /sys. Call it before the
/// process has threads. Errors  kSystem
Status EnterNetSpace(const std::string& path);

/// Gives this process and its children a host name of their own. Errors  kSystem
Status NameHost(const std::string& name);

/// Replaces this process by a program, found by PATH. Returns only on failure. Errors  kSystem
Error BecomeProgram(std::vector<std::string> arguments);

/// Largest frame: 64 KiB, Linux's limit for a frame of many packets, and the headers.
inline constexpr std::size_t kFrameBytesMax = (std::size_t{64} << 10) + 512;
/// Reads one frame: Linux's virtio header and the bytes on the cable, possibly of many packets.
/// Returns the number of bytes, or 0 if no frame waits or on an error. \param into  kFrameBytesMax
std::size_t ReadFrame(const os::Fd& wire, std::span<std::byte> into);
/// Writes a frame. A frame that does not fit is lost, as on a cable.
void WriteFrame(const os::Fd& wire, View frame);

/// Waits for frames of several wires.
class WireWatch {
 public:
  /// The wires outlive this. Errors  kSystem
  static Result<WireWatch> Make(std::span<const os::Fd* const> wires);

  /// Waits for a frame on any wire, or until this moment of Now(). It does not set an already
  /// matching timer again, because in a virtual machine that costs more than the rest of a wait.
  void Await(Instant until);
  /// True if the wire had a frame when Await ended. Before the first Await any wire may have one.
  bool HasFrame(std::size_t wire) const { return (entries_[wire + 1].revents & kSome) != 0; }

 private:
  static constexpr short kSome = POLLIN | POLLERR | POLLHUP;
  WireWatch(os::Fd timer, std::span<const os::Fd* const> wires);

  os::Fd timer_;
  std::vector<pollfd> entries_;  // the timer, then the wires
  Instant set_{0};               // end of the timer
};

/// Gives the calling thread, the carrier of frames, real-time priority and exact timers, if the
/// process may. Without them delays grow by the load of the machine.
void RequestTimelyWakeups();

}  // namespace ringlet::testbed
