// One simulated job: a root, its ranks, and what befalls them.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/member.hpp"
#include "bootstrap/root.hpp"
#include "scripted_rank.hpp"
#include "sim/network.hpp"
#include "stranger.hpp"

namespace ringlet::sim {

struct WorldConfig {
  std::uint64_t seed = 1;
  std::uint32_t size = 4;
  bootstrap::Shape shape = bootstrap::Shape::kTree;
  std::uint16_t arity = 3;
  Conditions conditions;
  Instant timeout = std::chrono::seconds(10);
  Instant start_spread = std::chrono::milliseconds(50);
  std::uint32_t ranks_per_host = 0;  ///< 0: nobody has a host
};

inline Secret SecretOf(std::uint64_t seed) {
  Secret secret;
  Prng prng(seed);
  for (std::byte& b : secret) b = static_cast<std::byte>(prng.Next());
  return secret;
}

class World {
 public:
  explicit World(const WorldConfig& config)
      : config_(config), network_(config.seed, config.conditions), prng_(config.seed * 2 + 1) {
    credentials_ = {config.seed, SecretOf(config.seed)};
    bootstrap::RootConfig root;
    root.credentials = credentials_;
    root.nonce_seed = SecretOf(config.seed + 1000);
    root.host = "host0";
    root.pid = 1;
    root_ =
        network_.Add(std::make_unique<bootstrap::Root>(root), RootAddress(), Instant(0), HostOf(0));
  }

  static Address RootAddress() { return Address::Ipv4(10, 255, 0, 1, 1); }
  static Address RankAddress(std::uint32_t rank) {
    return Address::Ipv4(10, static_cast<std::uint8_t>(rank >> 16),
                         static_cast<std::uint8_t>(rank >> 8), static_cast<std::uint8_t>(rank), 2);
  }

  HostId HostOf(std::uint32_t rank) const {
    return config_.ranks_per_host == 0 ? kNoHost : rank / config_.ranks_per_host;
  }

  bootstrap::MemberConfig ConfigOf(std::uint32_t rank) {
    bootstrap::MemberConfig member;
    member.credentials = credentials_;
    member.nonce_seed = SecretOf(prng_.Next());
    member.rank = Rank{rank};
    member.size = config_.size;
    member.roots = {RootAddress()};
    member.introduction = {{RankAddress(rank)}, "host" + std::to_string(rank / 4), 1000 + rank, {}};
    member.shape = config_.shape;
    member.arity = config_.arity;
    member.timeout = config_.timeout;
    return member;
  }

  NodeId AddRank(std::uint32_t rank, Instant start) { return AddRank(ConfigOf(rank), start); }
  NodeId AddRank(const bootstrap::MemberConfig& member, Instant start) {
    const NodeId node =
        network_.Add(std::make_unique<ScriptedRank>(member, config_.timeout),
                     RankAddress(Index(member.rank)), start, HostOf(Index(member.rank)));
    ranks_.push_back(node);
    return node;
  }
  void AddAllRanks() {
    for (std::uint32_t rank = 0; rank < config_.size; ++rank)
      AddRank(rank, RandomTime(config_.start_spread));
  }

  Instant RandomTime(Instant below) {
    return Instant(
        static_cast<std::int64_t>(prng_.Below(static_cast<std::uint64_t>(below.count()) + 1)));
  }

  ScriptedRank& rank(std::size_t index) {
    return static_cast<ScriptedRank&>(network_.machine(ranks_[index]));
  }
  NodeId node(std::size_t index) const { return ranks_[index]; }
  std::size_t ranks() const { return ranks_.size(); }
  NodeId root() const { return root_; }
  bootstrap::Root& root_machine() { return static_cast<bootstrap::Root&>(network_.machine(root_)); }
  Network& network() { return network_; }
  Prng& prng() { return prng_; }
  const Credentials& credentials() const { return credentials_; }

 private:
  WorldConfig config_;
  Network network_;
  Prng prng_;
  Credentials credentials_;
  NodeId root_ = 0;
  std::vector<NodeId> ranks_;
};

}  // namespace ringlet::sim
