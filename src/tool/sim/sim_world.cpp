#include "tool/sim/sim_world.hpp"

#include <fmt/format.h>

#include "comm/peers/peer_info.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

constexpr std::uint16_t kRootPort = 60'000;
constexpr std::uint16_t kMemberPort = 1000;  // port of the first rank on a host
constexpr std::uint16_t kDataPort = 30'000;
constexpr std::uint32_t kPid = 1000;  // process id of rank 0; rank 1 has the next
constexpr Instant kNever = std::chrono::hours(24 * 365 * 100);

Secret SecretOf(Prng& prng) {
  Secret secret;
  for (std::byte& byte : secret) byte = static_cast<std::byte>(prng.Next());
  return secret;
}

std::string HostName(sim::HostId host) {
  return fmt::format("node{:05}", host);
}

sim::Conditions ConditionsOf(const SimOptions& options) {
  sim::Conditions conditions;
  conditions.latency_min = options.latency;
  conditions.latency_max = options.latency + options.jitter;
  conditions.refuse = options.faults.refuse;
  conditions.chunk_max = sim::Conditions::kUncut;
  conditions.corrupt = options.faults.corrupt;
  conditions.local_latency = options.local_latency;
  conditions.mb_per_s = options.mb_per_s;
  conditions.cpu_per_event = options.cpu_per_event;
  conditions.cpu_per_kib = options.cpu_per_kib;
  return conditions;
}

// Returns data as large as a rank's own, because it makes up most of a roster.
Bytes PeerInfoOf(std::uint32_t rank, sim::HostId host, std::uint32_t local, Prng& prng) {
  comm::PeerInfo peer_info;
  peer_info.host_hash = host;
  peer_info.process_hash = prng.Next();
  peer_info.network_namespace = host;
  peer_info.device = local;
  peer_info.tcp = {
      sim::Network::AddressOn(host, static_cast<std::uint16_t>(kDataPort + local % kDataPort))};
  peer_info.unix_socket = Address::Unix(fmt::format("ringlet-{:016x}", rank));
  return comm::Encode(peer_info);
}

}  // namespace

Result<SimWorld> SimWorld::Build(const SimOptions& options, std::uint32_t size) {
  if (options.roots > size)
    return Error{Code::kInvalidArgument,
                 fmt::format("--roots {}: only {} ranks check in", options.roots, size)};
  return SimWorld(options, size);
}

SimWorld::SimWorld(const SimOptions& options, std::uint32_t size)
    : size_(size),
      hosts_(options.HostsOf(size)),
      roots_(options.roots),
      ranks_per_host_(options.RanksPerHost(size)),
      network_(std::make_unique<sim::Network>(options.seed, ConditionsOf(options))),
      absent_(size, false),
      doomed_(size, false) {
  AddRoots(options);
  AddRanks(options);
  for (const Fault& fault : options.faults.faults) PlanFault(fault);
}

void SimWorld::AddRoots(const SimOptions& options) {
  Prng prng(options.seed * 4 + 1);
  for (std::uint32_t root = 0; root < roots_; ++root) {
    // The first rank that a root serves creates it, as a caller of ncclGetUniqueId does.
    const std::uint32_t rank = bootstrap::RanksOfRoot({root, roots_}, size_).first;
    const Address address = sim::Network::AddressOn(
        host(rank), static_cast<std::uint16_t>(kRootPort + rank % ranks_per_host_));
    bootstrap::RootConfig config;
    config.credentials = {prng.Next(), SecretOf(prng)};
    config.nonce_seed = SecretOf(prng);
    config.host = HostName(host(rank));
    config.pid = kPid + rank;
    config.silence_max = options.silence_max;
    doors_.push_back({config.credentials, {address}});
    network_->Add(std::make_unique<bootstrap::Root>(std::move(config)), address, Instant(0),
                  host(rank));
  }
}

void SimWorld::AddRanks(const SimOptions& options) {
  Prng prng(options.seed * 4 + 3);
  const auto spread = static_cast<std::uint64_t>(options.spread.count());
  starts_.reserve(size_);
  for (std::uint32_t rank = 0; rank < size_; ++rank)
    starts_.emplace_back(static_cast<std::int64_t>(prng.Below(spread + 1)));
  for (const Fault& fault : options.faults.faults) {
    if (fault.kind == Fault::Kind::kLate) starts_[fault.victim.index] = fault.begin;
    if (fault.kind == Fault::Kind::kAbsent) {
      starts_[fault.victim.index] = kNever;
      absent_[fault.victim.index] = true;
    }
  }
  const auto roster_cache = std::make_shared<bootstrap::RosterCache>();
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    bootstrap::MemberConfig config = ConfigOf(rank, options, prng);
    config.roster_cache = roster_cache;
    const Address address = config.member_address.addresses.front();
    const auto node_leader = config.speaks ? config.node_leader : std::nullopt;
    const sim::NodeId node = network_->Add(std::make_unique<bootstrap::Member>(std::move(config)),
                                           address, starts_[rank], host(rank));
    if (node_leader) network_->Listen(node, *node_leader);
  }
}

bootstrap::MemberConfig SimWorld::ConfigOf(std::uint32_t rank, const SimOptions& options,
                                           Prng& prng) const {
  const sim::HostId on = host(rank);
  const std::uint32_t local = rank % ranks_per_host_;
  bootstrap::MemberConfig config;
  config.roots = doors_;
  config.nonce_seed = SecretOf(prng);
  config.rank = Rank{rank};
  config.size = size_;
  config.member_address = {
      {sim::Network::AddressOn(on, static_cast<std::uint16_t>(kMemberPort + local))},
      HostName(on),
      kPid + rank,
      PeerInfoOf(rank, on, local, prng)};
  config.shape = options.shape;
  config.arity = options.arity;
  config.timeout = options.timeout;
  config.silence_max = options.silence_max;
  if (options.each || ranks_per_host_ == 1) return config;
  config.node_leader = Address::Unix("node leader");
  config.speaks = local == 0;
  return config;
}

sim::NodeId SimWorld::NodeOf(const FaultTarget& victim) const {
  return victim.kind == FaultTarget::Kind::kRoot ? NodeOfRoot(victim.index)
                                                 : NodeOfRank(victim.index);
}

void SimWorld::PlanFault(const Fault& fault) {
  const bool is_host = fault.victim.kind == FaultTarget::Kind::kHost;
  const std::uint32_t index = fault.victim.index;
  switch (fault.kind) {
    case Fault::Kind::kKill:
      if (is_host) {
        network_->KillHost(index, fault.begin);
        for (std::uint32_t rank = index * ranks_per_host_;
             rank < std::min(size_, (index + 1) * ranks_per_host_); ++rank)
          doomed_[rank] = true;
        return;
      }
      if (fault.victim.kind == FaultTarget::Kind::kRank) doomed_[index] = true;
      return network_->Kill(NodeOf(fault.victim), fault.begin);
    case Fault::Kind::kSilence:
      if (is_host) return network_->IsolateHost(index, fault.begin);
      return network_->Isolate(NodeOf(fault.victim), fault.begin);
    case Fault::Kind::kStop: return network_->Stop(NodeOf(fault.victim), fault.begin, fault.end);
    case Fault::Kind::kSlow: return network_->Slow(NodeOf(fault.victim), fault.begin);
    case Fault::Kind::kCut: return network_->Cut(index, fault.other.index, fault.begin, fault.end);
    case Fault::Kind::kLate:
    case Fault::Kind::kAbsent: return;  // AddRanks applies them
  }
}

std::string SimWorld::Describe(std::uint32_t rank) const {
  return bootstrap::Describe(
      Rank{rank},
      {.addresses = {}, .host = HostName(host(rank)), .pid = kPid + rank, .peer_info = {}});
}

const bootstrap::Member& SimWorld::member(std::uint32_t rank) const {
  return static_cast<const bootstrap::Member&>(network_->machine(NodeOfRank(rank)));
}

std::uint32_t SimWorld::checked_in() const {
  std::uint32_t sum = 0;
  for (std::uint32_t root = 0; root < roots_; ++root)
    sum += static_cast<const bootstrap::Root&>(network_->machine(NodeOfRoot(root))).checked_in();
  return sum;
}

}  // namespace ringlet::cli
