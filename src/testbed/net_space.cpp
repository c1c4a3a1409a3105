#include "testbed/net_space.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "os/process/thread.hpp"
#include "testbed/sys_space.hpp"

namespace ringlet::testbed {
namespace {

Error Failed(const char* what) {
  return {Code::kUnsupported,
          fmt::format("cannot make a network namespace with a virtual interface: {}: {}; this "
                      "needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN, and /dev/net/tun",
                      what, std::strerror(errno)),
          errno};
}

ifreq RequestFor(const std::string& interface) {
  ifreq request{};
  RINGLET_ASSERT(interface.size() < sizeof request.ifr_name);
  std::memcpy(request.ifr_name, interface.c_str(), interface.size() + 1);
  return request;
}

Status BringUp(const os::Fd& socket, const std::string& interface) {
  ifreq request = RequestFor(interface);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return Failed("SIOCGIFFLAGS");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0) return Failed("SIOCSIFFLAGS");
  return Ok();
}

Result<os::Fd> OpenWire(const std::string& interface) {
  os::Fd wire(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!wire.valid()) return Failed("/dev/net/tun");
  ifreq request = RequestFor(interface);
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(wire.get(), TUNSETIFF, &request) != 0) return Failed("TUNSETIFF");
  // Frames carry many packets and no checksums: it saves most work, and the cable is lossless.
  if (::ioctl(wire.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)
    return Failed("TUNSETOFFLOAD");
  return wire;
}

Status AssignAddresses(const os::Fd& socket, const std::string& interface, std::uint8_t index,
                       std::uint8_t number) {
  ifreq request = RequestFor(interface);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  request.ifr_hwaddr.sa_data[0] = 2;  // locally administered
  request.ifr_hwaddr.sa_data[4] = static_cast<char>(index);
  request.ifr_hwaddr.sa_data[5] = static_cast<char>(number);
  if (::ioctl(socket.get(), SIOCSIFHWADDR, &request) != 0) return Failed("SIOCSIFHWADDR");
  const auto give = [&](unsigned long what, std::uint32_t address) {
    ifreq with = RequestFor(interface);
    sockaddr_in value{};
    value.sin_family = AF_INET;
    value.sin_addr.s_addr = htonl(address);
    std::memcpy(&with.ifr_addr, &value, sizeof value);
    return ::ioctl(socket.get(), what, &with) == 0;
  };
  const std::uint32_t network = 10u << 24 | 213u << 16 | std::uint32_t{index} << 8;
  if (!give(SIOCSIFADDR, network | number)) return Failed("SIOCSIFADDR");
  if (!give(SIOCSIFNETMASK, 0xffffff00u)) return Failed("SIOCSIFNETMASK");
  return Ok();
}

// Otherwise the interface reports 10 Mb/s, and programs that choose by speed use that.
void SetLinkSpeed(const os::Fd& socket, const std::string& interface, std::uint32_t mbit_per_s) {
  ethtool_cmd command{};
  command.cmd = ETHTOOL_SSET;
  command.duplex = DUPLEX_FULL;
  command.port = PORT_TP;
  ethtool_cmd_speed_set(&command, mbit_per_s);
  ifreq request = RequestFor(interface);
  request.ifr_data = reinterpret_cast<char*>(&command);
  static_cast<void>(::ioctl(socket.get(), SIOCETHTOOL, &request));
}

// Runs on a thread of its own. The thread stays in the new namespace until it ends.
Result<NetSpace> MakeOnThisThread(const NetSpaceOptions& options) {
  if (::unshare(CLONE_NEWNET) != 0) return Failed("unshare");
  os::Fd space(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!space.valid()) return Failed("/proc/thread-self/ns/net");
  const os::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return Failed("socket");
  RINGLET_TRY(BringUp(socket, "lo"));
  NetSpace made{.space = std::move(space), .wires = {}};
  for (std::uint8_t index = 0; index < options.interfaces; ++index) {
    const std::string interface = fmt::format("eth{}", index);
    RINGLET_TRY_ASSIGN(os::Fd wire, OpenWire(interface));
    RINGLET_TRY(AssignAddresses(socket, interface, index, options.number));
    SetLinkSpeed(socket, interface, options.mbit_per_s);
    RINGLET_TRY(BringUp(socket, interface));
    made.wires.push_back(std::move(wire));
  }
  return made;
}

Error SystemFailure(std::string what) {
  return {Code::kSystem, fmt::format("{}: {}", what, std::strerror(errno)), errno};
}

}  // namespace

Result<NetSpace> MakeNetSpace(const NetSpaceOptions& options) {
  std::optional<Result<NetSpace>> made;
  RINGLET_TRY_ASSIGN(std::jthread maker,
                     os::StartThread("to make a network namespace", [&](const std::stop_token&) {
                       made.emplace(MakeOnThisThread(options));
                     }));
  maker.join();
  return *std::move(made);
}

Status EnterNetSpace(const std::string& path) {
  const os::Fd space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!space.valid()) return SystemFailure(path);
  if (::setns(space.get(), CLONE_NEWNET) != 0) return SystemFailure("setns " + path);
  // /sys shows the network of the process that mounted it, so this process mounts its own.
  if (::unshare(CLONE_NEWNS) != 0) return SystemFailure("unshare");
  RINGLET_TRY(MakeMountsPrivate());
  if (::mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0) return SystemFailure("a /sys of its own");
  return Ok();
}

Status NameHost(const std::string& name) {
  if (::unshare(CLONE_NEWUTS) != 0) return SystemFailure("unshare");
  if (::sethostname(name.data(), name.size()) != 0) return SystemFailure("sethostname " + name);
  return Ok();
}

Error BecomeProgram(std::vector<std::string> arguments) {
  RINGLET_ASSERT(!arguments.empty());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  return SystemFailure(fmt::format("cannot run \"{}\"", arguments[0]));
}

std::size_t ReadFrame(const os::Fd& wire, std::span<std::byte> into) {
  const ssize_t got = ::read(wire.get(), into.data(), into.size());
  return got <= 0 ? 0 : static_cast<std::size_t>(got);
}

void WriteFrame(const os::Fd& wire, View frame) {
  static_cast<void>(!::write(wire.get(), frame.data(), frame.size()));
}

Result<WireWatch> WireWatch::Make(std::span<const os::Fd* const> wires) {
  os::Fd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.valid()) return SystemFailure("timerfd_create");
  return WireWatch(std::move(timer), wires);
}

WireWatch::WireWatch(os::Fd timer, std::span<const os::Fd* const> wires)
    : timer_(std::move(timer)) {
  entries_.push_back({.fd = timer_.get(), .events = POLLIN, .revents = 0});
  for (const os::Fd* wire : wires)
    entries_.push_back({.fd = wire->get(), .events = POLLIN, .revents = POLLIN});
}

void WireWatch::Await(Instant until) {
  if (until != set_) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until);
    const itimerspec once{.it_interval = {},
                          .it_value = {.tv_sec = seconds.count(),
                                       .tv_nsec = std::max((until - seconds).count(), 1L)}};
    static_cast<void>(::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &once, nullptr));
    set_ = until;
  }
  static_cast<void>(::poll(entries_.data(), entries_.size(), -1));
}

void RequestTimelyWakeups() {
  ::prctl(PR_SET_TIMERSLACK, 1);
  const sched_param lowest{.sched_priority = 1};
  static_cast<void>(::sched_setscheduler(0, SCHED_FIFO, &lowest));
}

}  // namespace ringlet::testbed
