// Emulates hosts on one machine: network namespaces joined by switches of a given rate and delay,
// one switch per NIC number. A thread of this process runs the switches. The hosts end with this
// process, however it ends.
#pragma once
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testbed/frame_switch.hpp"
#include "testbed/net_space.hpp"

namespace ringlet::testbed {

struct NetHostsOptions {
  std::uint32_t hosts = 2;       ///< at most 64
  std::uint32_t nics = 1;        ///< per host, each on its own switch; at most 8
  std::uint64_t mb_per_s = 125;  ///< per link and direction; 0: unlimited
  Instant delay{0};              ///< one way, from host to host
};

class NetHosts {
 public:
  /// Errors  kUnsupported  the process lacks rights, or the kernel lacks support; the message has
  ///                       the requirement
  static Result<std::unique_ptr<NetHosts>> Make(const NetHostsOptions& options);
  ~NetHosts();
  NetHosts(const NetHosts&) = delete;
  NetHosts& operator=(const NetHosts&) = delete;

  /// Argument for EnterNetSpace, in any process, while this process lives.
  std::string SpacePath(std::uint32_t host) const;
  static std::string AddressOf(std::uint32_t host);

 private:
  explicit NetHosts(const NetHostsOptions& options);
  std::vector<const os::Fd*> Wires() const;
  std::size_t WireOf(std::uint32_t host, std::uint32_t nic) const {  // index into Wires()
    return host * switches_.size() + nic;
  }
  void Carry(const std::stop_token& stop, WireWatch watch);
  Instant ForwardFrames(std::uint32_t nic, const WireWatch& watch, std::vector<Bytes>& spare);

  std::vector<NetSpace> spaces_;
  std::vector<FrameSwitch> switches_;  // one per NIC
  std::jthread carrier_;
};

}  // namespace ringlet::testbed
