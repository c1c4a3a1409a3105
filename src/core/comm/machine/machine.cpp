#include "comm/machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/bruck.hpp"
#include "plan/channels/graph_file.hpp"
#include "plan/tuning/user_limits.hpp"

namespace ringlet::comm {
namespace {

using collective::Algorithm;
using collective::Call;
using collective::CallKind;
using collective::CallPlace;
using plan::NcclAlgorithm;
using plan::TransferPurpose;

constexpr std::uint64_t kSlowestTimes = 1000;  // inverse of the least fraction of ParseSlowLinks

/// Returns the bytes of the larger one of a rank's buffers, on which NCCL's choice depends.
std::uint64_t SizeFor(const Call& call, std::uint32_t ranks) {
  const bool block_each =
      call.kind == CallKind::kAllGather || call.kind == CallKind::kReduceScatter;
  return BlockBytes(call) * (block_each ? ranks : 1);
}

/// Returns true if the caller of one call admits the algorithm (ncclConfig's algSelection).
bool Admits(const Call& call, NcclAlgorithm algorithm) {
  if (call.algorithms == 0) return true;
  const collective::AlgorithmSet set(call.algorithms);
  return set[static_cast<std::size_t>(algorithm == NcclAlgorithm::kRing ? Algorithm::kRing
                                                                        : Algorithm::kDoubleTree)];
}

/// Returns true if collectives of an emulated machine can run the algorithm.
bool IsRun(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::kTree || algorithm == NcclAlgorithm::kRing;
}

std::uint32_t ChannelsOf(const plan::GpuPlan& gpus, TransferPurpose carriage) {
  const plan::ChannelCounts counts = gpus.channels().counts();
  return carriage == TransferPurpose::kTree ? counts.trees : counts.rings;
}

/// Returns the choice of a tuner with the model's time.
std::optional<plan::TuningPick> ChosenBy(const collective::TunerChoice& choice,
                                         const plan::Tuning& tuning, plan::Function function,
                                         std::uint64_t bytes) {
  if (!choice.given) return std::nullopt;
  const auto algorithm = static_cast<NcclAlgorithm>(choice.algorithm);
  const auto protocol = static_cast<plan::Protocol>(choice.protocol);
  const auto time = tuning.TimeNs(function, algorithm, protocol, bytes);
  if (!time) return std::nullopt;
  return plan::TuningPick{algorithm, protocol, *time};
}

/// Returns an error for the first rank that shares its GPU with an earlier one, or lacks a GPU.
Status CheckPlaces(const PeerTable& peer_table) {
  std::vector<bool> placed(peer_table.peer_infos.size());
  for (const topology::HostView& host : peer_table.hosts)
    for (const topology::Gpu& gpu : host.gpus)
      if (gpu.rank) placed[*gpu.rank] = true;
  for (std::uint32_t rank = 0; rank < placed.size(); ++rank) {
    if (placed[rank]) continue;
    const PeerInfo& its = peer_table.peer_infos[rank];
    if (!its.gpu)
      return Error{
          Code::kInvalidArgument,
          fmt::format("rank {} is on device {}, which the machine of RINGLET_MACHINE does "
                      "not have: start fewer ranks for each host, or name a larger machine",
                      rank, its.device)};
    for (std::uint32_t other = 0; other < rank; ++other) {
      const PeerInfo& theirs = peer_table.peer_infos[other];
      if (theirs.host_hash == its.host_hash && theirs.gpu == its.gpu && theirs.half == its.half)
        return Error{Code::kInvalidArgument,
                     fmt::format("ranks {} and {} are both on GPU {} of one host: give each rank a "
                                 "device of its own (cudaSetDevice, or LOCAL_RANK)",
                                 other, rank, its.device)};
    }
  }
  return Ok();
}

/// Returns no message of a rank to itself.
std::vector<collective::RankLoad> LoadsOfMessages(const Call& call, CallPlace place) {
  std::vector<collective::RankLoad> loads;
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
    const Rank to{rank};
    const bool sends = call.kind == CallKind::kAllToAll ||
                       (call.kind == CallKind::kScatter && place.self == call.root) ||
                       (call.kind == CallKind::kGather && to == call.root);
    if (sends && to != place.self && call.count > 0) loads.push_back({to, 0, call.count});
  }
  return loads;
}

std::vector<std::uint64_t> IdentitiesOf(const PeerTable& peer_table) {
  std::vector<std::uint64_t> identities;
  for (const topology::HostView& host : peer_table.hosts) identities.push_back(host.identity);
  return identities;
}

}  // namespace

std::vector<std::uint32_t> NodeSizes(const plan::GpuPlan& gpus) {
  std::vector<std::uint32_t> sizes;
  for (const plan::GpuNode& node : gpus.nodes)
    sizes.push_back(static_cast<std::uint32_t>(node.ranks.size()));
  return sizes;
}

std::optional<plan::Function> FunctionOf(CallKind kind) {
  switch (kind) {
    case CallKind::kAllReduce: return plan::Function::kAllReduce;
    case CallKind::kBroadcast: return plan::Function::kBroadcast;
    case CallKind::kReduce: return plan::Function::kReduce;
    case CallKind::kAllGather: return plan::Function::kAllGather;
    case CallKind::kReduceScatter: return plan::Function::kReduceScatter;
    case CallKind::kAllToAll:
    case CallKind::kAllToAllV:
    case CallKind::kGather:
    case CallKind::kScatter:
    case CallKind::kBarrier:
    case CallKind::kSendReceive: break;
  }
  return std::nullopt;
}

Result<plan::GpuPlanOptions> GpuPlanOptionsOf(const Settings& settings) {
  plan::GpuPlanOptions options;
  RINGLET_TRY_ASSIGN(options.search, plan::ReadSearchOptions(settings));
  RINGLET_TRY_ASSIGN(options.channels, plan::ReadLimits(settings));
  RINGLET_TRY_ASSIGN(options.ports, topology::ReadPortRules(settings));
  RINGLET_TRY_ASSIGN(options.paths, topology::ReadPathOptions(settings));
  RINGLET_TRY_ASSIGN(options.choice, plan::ReadTuningChoice(settings));
  return options;
}

Result<std::shared_ptr<const GpuMachine>> GpuMachine::Plan(const Settings& settings,
                                                           const PeerTable& peer_table,
                                                           const plan::GraphText& graphs,
                                                           const Tune& tune) {
  RINGLET_TRY(CheckPlaces(peer_table));
  RINGLET_TRY_ASSIGN(plan::GpuPlanOptions options, GpuPlanOptionsOf(settings));
  options.given = graphs;
  RINGLET_TRY_ASSIGN(plan::GpuPlan gpus, plan::PlanGpus(peer_table.hosts, options));
  if (tune) gpus.tuning.SetConstants(tune(gpus));
  std::vector<SlowLink> slow;
  if (!settings.slow.empty()) {
    RINGLET_TRY_ASSIGN(slow, ParseSlowLinks(settings.slow));
  }
  return std::shared_ptr<const GpuMachine>(
      new GpuMachine(std::move(gpus), peer_table, std::move(slow), options.choice));
}

GpuMachine::GpuMachine(plan::GpuPlan gpus, const PeerTable& peer_table, std::vector<SlowLink> slow,
                       const plan::TuningChoice& choice)
    : gpus_(std::move(gpus)),
      identities_(IdentitiesOf(peer_table)),
      messages_(NodeSizes(gpus_), gpus_.messages),
      slow_(gpus_, identities_, std::move(slow)),
      slow_tuning_(slow_.TuningOf(choice)) {
  const plan::ChannelPlan& channels = gpus_.channels();
  for (std::uint32_t channel = 0; channel < channels.counts().rings; ++channel)
    rings_.push_back(channels.Ring(channel));
  numbers_.resize(channels.rank_count());
  std::uint32_t number = 0;
  for (const plan::GpuNode& node : gpus_.nodes)
    for (const Rank rank : node.ranks) numbers_[Index(rank)] = number++;
}

Result<MachineAlgorithm> GpuMachine::AlgorithmNamesOf(const Call& call) const {
  const auto function = FunctionOf(call.kind);
  if (!function) return MachineAlgorithm{};
  const std::uint64_t bytes = SizeFor(call, gpus_.channels().rank_count());
  const auto chosen = ChosenBy(call.tuner, gpus_.tuning, *function, bytes);
  std::vector<NcclAlgorithm> admitted;
  for (const NcclAlgorithm algorithm : {NcclAlgorithm::kTree, NcclAlgorithm::kRing})
    if (Admits(call, algorithm)) admitted.push_back(algorithm);
  const auto best =
      chosen && IsRun(chosen->algorithm) ? chosen : gpus_.tuning.PickOf(*function, admitted, bytes);
  if (!best)
    return Error{Code::kInvalidArgument,
                 fmt::format("NCCL_ALGO, NCCL_PROTO and algSelection leave no way to run {} on the "
                             "emulated machine, which uses rings and trees: allow Ring and Simple",
                             NameOf(*function))};
  if (!chosen && call.algorithms != 0) return WayAlong(*best, *best, *function, bytes);
  const auto of_nccl = chosen ? Result(*chosen) : gpus_.tuning.Pick(*function, bytes);
  MachineAlgorithm way = WayAlong(*best, of_nccl.ok() ? *of_nccl : *best, *function, bytes);
  if (chosen && call.tuner.channels != 0)
    way.channels = std::min<std::uint32_t>(call.tuner.channels, ChannelsOf(gpus_, way.carriage));
  return way;
}

MachineAlgorithm GpuMachine::WayAlong(const plan::TuningPick& run, const plan::TuningPick& of_nccl,
                                      plan::Function function, std::uint64_t bytes) const {
  return {.carriage = run.algorithm == NcclAlgorithm::kRing ? TransferPurpose::kRing
                                                            : TransferPurpose::kTree,
          .pick = run,
          .channels = gpus_.tuning.LaunchOf(run, bytes).channels,
          .nccl_pick = of_nccl != run ? std::optional(of_nccl) : std::nullopt,
          .slowed_ns = SlowedTime(function, of_nccl, bytes)};
}

plan::TimeTable GpuMachine::TimesOf(const Call& call) const {
  plan::TimeTable times =
      gpus_.tuning.TimesOf(*FunctionOf(call.kind), SizeFor(call, gpus_.channels().rank_count()));
  for (std::size_t i = 0; call.algorithms != 0 && i < times.size(); ++i) {
    const auto algorithm = static_cast<NcclAlgorithm>(i);
    if (!IsRun(algorithm) || !Admits(call, algorithm)) times[i] = {};
  }
  return times;
}

// If a link is too slow for a protocol in the model's integers, assumes the maximum time.
std::optional<std::uint64_t> GpuMachine::SlowedTime(plan::Function function,
                                                    const plan::TuningPick& pick,
                                                    std::uint64_t bytes) const {
  if (!slow_tuning_) return std::nullopt;
  const auto time = slow_tuning_->TimeNs(function, pick.algorithm, pick.protocol, bytes);
  const std::uint64_t slowed = time.value_or(pick.time_ns * kSlowestTimes);
  return slowed > pick.time_ns ? std::optional(slowed) : std::nullopt;
}

collective::Schedule GpuMachine::ScheduleOf(const Call& call, CallPlace place,
                                            const MachineAlgorithm& way) const {
  const collective::Rings rings(rings_.data(), way.channels);
  switch (way.carriage) {
    case TransferPurpose::kRing: return OverRings(call, place, rings);
    case TransferPurpose::kTree:
      return OverTrees(call, collective::TreesOf(gpus_.channels(), place.self, way.channels));
    case TransferPurpose::kMessage: break;
  }
  const collective::Layout layout{.order = rings_.front(), .groups = {rings_.front()}};
  const bool barrier = call.kind == CallKind::kBarrier;
  return Build(barrier ? Algorithm::kDissemination : Algorithm::kDirect, call, place, layout);
}

std::vector<collective::RankLoad> GpuMachine::LoadsOf(const Call& call, CallPlace place,
                                                      const MachineAlgorithm& way) const {
  switch (way.carriage) {
    case TransferPurpose::kRing:
      return LoadsOverRings(call, place, collective::Rings(rings_.data(), way.channels));
    case TransferPurpose::kTree:
      return LoadsOverTrees(call, collective::TreesOf(gpus_.channels(), place.self, way.channels));
    case TransferPurpose::kMessage: break;
  }
  return LoadsOfMessages(call, place);
}

std::vector<std::uint32_t> GpuMachine::ChannelsOfMessage(Rank from, Rank to) const {
  const Rank sender{numbers_[Index(from)]};
  std::vector<std::uint32_t> channels;
  for (std::uint32_t round = 0; round < messages_.round_count(); ++round) {
    const plan::P2pRound at = messages_.At(round, sender);
    if (Index(at.to) != numbers_[Index(to)]) continue;
    for (std::uint32_t part = 0; part < messages_.channels().of_a_peer; ++part)
      channels.push_back(messages_.ChannelOf(at, part));
    break;
  }
  return channels;
}

std::string GpuMachine::GraphsOf(Rank rank) const {
  const plan::GpuNode& node = gpus_.nodes[gpus_.channels().PlaceOf(rank).node];
  const plan::GpuSystem& system = gpus_.systems[node.system];
  plan::GraphNames names = plan::NamesOf(system.paths);
  for (std::size_t i = 0; i < names.ranks.size(); ++i)
    names.ranks[i] = Index(node.ranks[system.planned.locals[i]]);
  return plan::WriteGraphs(system.planned.plan, names);
}

}  // namespace ringlet::comm
