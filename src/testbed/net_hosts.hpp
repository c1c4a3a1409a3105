// Hosts on one machine: network namespaces, joined by switches of given rate and delay, one for
// each of their NICs, which are a thread of this process. They end with this process, however it
// ends.
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
  std::uint32_t nics = 1;        ///< of each host, each on a switch of its own; at most 8
  std::uint64_t mb_per_s = 125;  ///< of each link, each way; 0: unlimited
  Instant delay{0};              ///< one way, from host to host
};

class NetHosts {
 public:
  /// Errors  kUnsupported  this process may not, or the kernel cannot: says what it takes
  static Result<std::unique_ptr<NetHosts>> Make(const NetHostsOptions& options);
  ~NetHosts();
  NetHosts(const NetHosts&) = delete;
  NetHosts& operator=(const NetHosts&) = delete;

  /// The argument of EnterNetSpace, from any process, as long as this one lives.
  std::string SpacePath(std::uint32_t host) const;
  static std::string AddressOf(std::uint32_t host);

 private:
  explicit NetHosts(const NetHostsOptions& options);
  std::vector<const os::Fd*> Wires() const;
  std::size_t WireOf(std::uint32_t host, std::uint32_t nic) const {  // of Wires
    return host * switches_.size() + nic;
  }
  void Carry(const std::stop_token& stop, WireWatch watch);
  Instant CarryOver(std::uint32_t nic, const WireWatch& watch, std::vector<Bytes>& spare);

  std::vector<NetSpace> spaces_;
  std::vector<FrameSwitch> switches_;  // one for each NIC
  std::jthread carrier_;
};

}  // namespace ringlet::testbed
