// The job of `ringlet sim init`: the production roots and members, each on its simulated host. This
// file has all their configuration and addresses.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/member/member.hpp"
#include "bootstrap/root.hpp"
#include "sim/network.hpp"
#include "tool/sim/sim_options.hpp"

namespace ringlet::cli {

class SimWorld {
 public:
  /// Builds a world with the faults of `options` scheduled. No event has run yet.
  /// Errors  kInvalidArgument  there are more roots than ranks
  static Result<SimWorld> Build(const SimOptions& options, std::uint32_t size);

  sim::Network& network() { return *network_; }
  std::uint32_t size() const { return size_; }
  std::uint32_t hosts() const { return hosts_; }
  std::uint32_t roots() const { return roots_; }

  // Nodes are numbered roots first, then ranks.
  sim::NodeId NodeOfRoot(std::uint32_t root) const { return root; }
  sim::NodeId NodeOfRank(std::uint32_t rank) const { return roots_ + rank; }
  bool IsRoot(sim::NodeId node) const { return node < roots_; }
  std::uint32_t RankOf(sim::NodeId node) const { return node - roots_; }
  const bootstrap::Member& member(std::uint32_t rank) const;
  /// Returns the number of ranks that have checked in at all roots.
  std::uint32_t checked_in() const;

  bool absent(std::uint32_t rank) const { return absent_[rank]; }
  /// Returns true if a fault kills the rank's process at some time.
  bool doomed(std::uint32_t rank) const { return doomed_[rank]; }
  sim::HostId host(std::uint32_t rank) const { return rank / ranks_per_host_; }
  /// Returns the rank's name in messages.
  std::string Describe(std::uint32_t rank) const;
  Instant start(std::uint32_t rank) const { return starts_[rank]; }

 private:
  SimWorld(const SimOptions& options, std::uint32_t size);
  void AddRoots(const SimOptions& options);
  void AddRanks(const SimOptions& options);
  bootstrap::MemberConfig ConfigOf(std::uint32_t rank, const SimOptions& options, Prng& prng) const;
  void PlanFault(const Fault& fault);
  sim::NodeId NodeOf(const FaultTarget& victim) const;

  std::uint32_t size_ = 0, hosts_ = 0, roots_ = 0, ranks_per_host_ = 0;
  std::vector<bootstrap::RootEndpoint> doors_;
  std::unique_ptr<sim::Network> network_;
  std::vector<bool> absent_, doomed_;
  std::vector<Instant> starts_;
};

}  // namespace ringlet::cli
