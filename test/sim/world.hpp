// One simulated job: a root, its ranks, and their faults.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/member/member.hpp"
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
  Instant silence_max = std::chrono::seconds(60);
  bool node_leaders = false;  ///< the first rank of each host of four is its node leader
  std::uint32_t roots = 1;
  bool encrypt = false;
  std::uint32_t ranks_per_host = 0;    ///< 0: no rank has a host
  std::size_t half_open_max = 32'768;  ///< of the roots
};

struct SeedRange {
  std::uint64_t first = 1, count = 0;
};
/// Returns the seeds of RINGLET_SIM_SEEDS=first:count, or the first `count` ones.
inline SeedRange SeedsToRun(std::uint64_t count) {
  SeedRange seeds{.count = count};
  if (const char* const range = std::getenv("RINGLET_SIM_SEEDS")) {
    char* rest = nullptr;
    seeds.first = std::strtoull(range, &rest, 0);
    if (*rest == ':') seeds.count = std::strtoull(rest + 1, nullptr, 0);
  }
  return seeds;
}

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
    for (std::uint32_t index = 0; index < config.roots; ++index) {
      bootstrap::RootConfig root;
      root.credentials = CredentialsOf(index);
      root.nonce_seed = SecretOf(config.seed + 1000 + index);
      root.host = "host" + std::to_string(index);
      root.pid = 1;
      root.silence_max = config.silence_max;
      root.lines.encrypt = config.encrypt;
      root.half_open_max = config.half_open_max;
      roots_.push_back(network_.Add(std::make_unique<bootstrap::Root>(root), RootAddress(index),
                                    Instant(0), HostOf(index)));
    }
  }

  static Address RootAddress(std::uint32_t index = 0) {
    return Address::Ipv4(10, 255, static_cast<std::uint8_t>(index), 1, 1);
  }
  static Address NodeLeaderAddress(std::uint32_t host) {
    return Address::Unix("host" + std::to_string(host));
  }
  /// Each root's id has a secret of its own.
  Credentials CredentialsOf(std::uint32_t root) const {
    return root == 0 ? credentials_
                     : Credentials{config_.seed + root, SecretOf(config_.seed + 77 * root)};
  }
  static Address RankAddress(std::uint32_t rank) {
    return Address::Ipv4(10, static_cast<std::uint8_t>(rank >> 16),
                         static_cast<std::uint8_t>(rank >> 8), static_cast<std::uint8_t>(rank), 2);
  }

  HostId HostOf(std::uint32_t rank) const {
    return config_.ranks_per_host == 0 ? kNoHost : rank / config_.ranks_per_host;
  }

  bootstrap::MemberConfig ConfigOf(std::uint32_t rank) {
    bootstrap::MemberConfig member;
    for (std::uint32_t root = 0; root < config_.roots; ++root)
      member.roots.push_back({CredentialsOf(root), {RootAddress(root)}});
    member.nonce_seed = SecretOf(prng_.Next());
    member.rank = Rank{rank};
    member.size = config_.size;
    member.member_address = {
        {RankAddress(rank)}, "host" + std::to_string(rank / 4), 1000 + rank, {}};
    member.shape = config_.shape;
    member.arity = config_.arity;
    member.timeout = config_.timeout;
    member.silence_max = config_.silence_max;
    member.lines.encrypt = config_.encrypt;
    if (config_.node_leaders) {
      member.node_leader = NodeLeaderAddress(rank / 4);
      member.speaks = rank % 4 == 0;
    }
    return member;
  }

  NodeId AddRank(std::uint32_t rank, Instant start) { return AddRank(ConfigOf(rank), start); }
  NodeId AddRank(const bootstrap::MemberConfig& member, Instant start) {
    const NodeId node =
        network_.Add(std::make_unique<ScriptedRank>(member, config_.timeout),
                     RankAddress(Index(member.rank)), start, HostOf(Index(member.rank)));
    if (member.speaks) network_.Listen(node, *member.node_leader);
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
  NodeId root(std::uint32_t index = 0) const { return roots_[index]; }
  bootstrap::Root& root_machine(std::uint32_t index = 0) {
    return static_cast<bootstrap::Root&>(network_.machine(roots_[index]));
  }
  Network& network() { return network_; }
  Prng& prng() { return prng_; }
  const Credentials& credentials() const { return credentials_; }

 private:
  WorldConfig config_;
  Network network_;
  Prng prng_;
  Credentials credentials_;
  std::vector<NodeId> roots_;
  std::vector<NodeId> ranks_;
};

}  // namespace ringlet::sim
