#include "testbed/net_hosts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "os/clock.hpp"
#include "os/process/thread.hpp"

namespace ringlet::testbed {
namespace {

// Upper bound on the wait for the end of the carrier.
constexpr Instant kHostLook = std::chrono::milliseconds(20);
constexpr std::size_t kFramesAtOnce = 64;  // per host and turn
constexpr std::size_t kSpareMax = 512;     // frames with kept memory

}  // namespace

NetHosts::NetHosts(const NetHostsOptions& options) {
  for (std::uint32_t nic = 0; nic < options.nics; ++nic)
    switches_.emplace_back(FrameSwitchOptions{.ports = options.hosts,
                                              .bytes_per_s = options.mb_per_s * 1'000'000,
                                              .delay = options.delay});
}

Result<std::unique_ptr<NetHosts>> NetHosts::Make(const NetHostsOptions& options) {
  std::unique_ptr<NetHosts> hosts(new NetHosts(options));
  constexpr std::uint64_t kFastest = 800'000;
  for (std::uint32_t host = 0; host < options.hosts; ++host) {
    RINGLET_TRY_ASSIGN(
        NetSpace space,
        MakeNetSpace({.number = static_cast<std::uint8_t>(host + 1),
                      .interfaces = static_cast<std::uint8_t>(options.nics),
                      .mbit_per_s = static_cast<std::uint32_t>(
                          options.mb_per_s == 0 ? kFastest : options.mb_per_s * 8)}));
    hosts->spaces_.push_back(std::move(space));
  }
  RINGLET_TRY_ASSIGN(WireWatch watch, WireWatch::Make(hosts->Wires()));
  // std::function requires a copyable callable.
  const auto shared = std::make_shared<WireWatch>(std::move(watch));
  RINGLET_TRY_ASSIGN(hosts->carrier_,
                     os::StartThread("to carry frames between network namespaces",
                                     [raw = hosts.get(), shared](const std::stop_token& stop) {
                                       raw->Carry(stop, std::move(*shared));
                                     }));
  return hosts;
}

std::vector<const os::Fd*> NetHosts::Wires() const {
  std::vector<const os::Fd*> wires;
  for (const NetSpace& space : spaces_)
    for (const os::Fd& wire : space.wires) wires.push_back(&wire);
  return wires;
}

NetHosts::~NetHosts() = default;  // the thread, as the last member, ends first

std::string NetHosts::SpacePath(std::uint32_t host) const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), spaces_.at(host).space.get());
}

std::string NetHosts::AddressOf(std::uint32_t host) {
  return fmt::format("10.213.0.{}", host + 1);
}

// Moves the arrived and the due packets of the switch of `nic`. Returns the time of the next call.
Instant NetHosts::ForwardFrames(std::uint32_t nic, const WireWatch& watch,
                                std::vector<Bytes>& spare) {
  FrameSwitch& between = switches_[nic];
  for (std::uint32_t port = 0; port < spaces_.size(); ++port)
    for (std::size_t i = 0; i < kFramesAtOnce && watch.HasFrame(WireOf(port, nic)); ++i) {
      if (spare.empty()) spare.emplace_back(kFrameBytesMax);
      const std::size_t size = ReadFrame(spaces_[port].wires[nic], spare.back());
      if (size == 0) break;
      between.Arrive(port, std::move(spare.back()), size, os::Now());
      spare.pop_back();
    }
  while (auto frame = between.TakeDue(os::Now())) {
    WriteFrame(spaces_[frame->port].wires[nic], frame->bytes());
    if (frame->memory.size() == kFrameBytesMax && spare.size() < kSpareMax)
      spare.push_back(std::move(frame->memory));
  }
  // Successive calls return the same end, so no new timer is set.
  return between.NextDue().value_or((os::Now() / kHostLook + 2) * kHostLook);
}

void NetHosts::Carry(const std::stop_token& stop, WireWatch watch) {
  RequestTimelyWakeups();
  std::vector<Bytes> spare;  // a stack, because the last used memory is still in the caches
  while (!stop.stop_requested()) {
    Instant until = Instant::max();
    for (std::uint32_t nic = 0; nic < switches_.size(); ++nic)
      until = std::min(until, ForwardFrames(nic, watch, spare));
    watch.Await(until);
  }
}

}  // namespace ringlet::testbed
