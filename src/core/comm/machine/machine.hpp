// The machine whose GPUs the ranks of a communicator play: planned as NCCL would, and how calls run
// on its channels. There is one where RINGLET_MACHINE names its topology file.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/algorithm/over_channels.hpp"
#include "collective/call/call.hpp"
#include "comm/machine/slow_rates.hpp"
#include "comm/peers/peer_table.hpp"
#include "plan/channels/p2p_schedule.hpp"
#include "plan/gpus/gpu_plan.hpp"
#include "plan/gpus/gpu_route.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// How NCCL would run a call there.
struct MachineWay {
  plan::Carriage carriage = plan::Carriage::kMessage;
  std::optional<plan::TuningPick> pick = {};  ///< of rings and trees
  std::uint32_t channels = 0;                 ///< of these
  /// The way that NCCL would take with NVLS and the like, which do not run here; nothing where that
  /// is `pick`.
  std::optional<plan::TuningPick> nccl_pick = {};
  /// The time of what NCCL takes with the slow links; nothing where these do not matter.
  std::optional<std::uint64_t> slowed_ns = {};

  /// The time that NCCL takes, by its model. \pre  there is a pick
  std::uint64_t predicted_ns() const {
    if (slowed_ns) return *slowed_ns;
    return nccl_pick ? nccl_pick->time_ns : pick->time_ns;
  }
  bool operator==(const MachineWay&) const = default;
};

/// NCCL's function of a collective; nothing for what runs on messages.
std::optional<plan::Function> FunctionOf(collective::CallKind kind);

/// How many ranks each node has.
std::vector<std::uint32_t> NodeSizes(const plan::GpuPlan& gpus);

/// All that settings say of plans for GPUs, but for graph files.
/// Errors  kInvalidArgument  a variable makes no sense
Result<plan::GpuPlanOptions> GpuPlanOptionsOf(const Settings& settings);

class GpuMachine {
 public:
  /// Gives the numbers of the model of times for such a plan, which has those of NCCL.
  using Tune = std::function<plan::TuningConstants(const plan::GpuPlan&)>;

  /// \param peer_table  whose hosts say which rank is on which GPU
  /// \param tune        null: those of NCCL
  /// Errors  as plan::PlanGpus; two ranks on one GPU: names both and what to do
  static Result<std::shared_ptr<const GpuMachine>> Plan(const Settings& settings,
                                                        const PeerTable& peer_table,
                                                        const plan::GraphText& graphs,
                                                        const Tune& tune = nullptr);

  const plan::GpuPlan& gpus() const { return gpus_; }
  /// The hosts of PlanGpus, as RINGLET_HOSTID names them: equal in all communicators.
  std::uint64_t IdentityOf(std::uint32_t host) const { return identities_[host]; }

  /// Rings or trees as NCCL's model of times says, of those that are allowed: NCCL_ALGO, NCCL_PROTO
  /// and the call's own. Messages for what has neither. The choice of a tuner goes before.
  /// Errors  kInvalidArgument  nothing is left; names the function and what limits it
  Result<MachineWay> WayOf(const collective::Call& call) const;
  /// The times of all ways that the call admits, also of those that do not run here, for a tuner.
  /// \pre  FunctionOf(its kind) is one
  plan::TimeTable TimesOf(const collective::Call& call) const;

  /// This rank's schedule. \pre  the way is that of this call
  collective::Schedule ScheduleOf(const collective::Call& call, collective::CallPlace place,
                                  const MachineWay& way) const;
  /// The elements that this rank has to send for it. Messages have channel 0: ChannelsOfMessage
  /// says theirs.
  std::vector<collective::RankLoad> LoadsOf(const collective::Call& call,
                                            collective::CallPlace place,
                                            const MachineWay& way) const;

  /// The channels that a message between two ranks is spread over.
  std::vector<std::uint32_t> ChannelsOfMessage(Rank from, Rank to) const;

  /// Millionths of its rate that a link has, as RINGLET_SLOW says.
  std::uint32_t ShareOf(const plan::HardwareLink& link) const { return slow_.ShareOf(link); }

  /// The graph file of this rank's node.
  std::string GraphsOf(Rank rank) const;

 private:
  GpuMachine(plan::GpuPlan gpus, const PeerTable& peer_table, std::vector<SlowLink> slow,
             const plan::TuningChoice& choice);
  MachineWay WayAlong(const plan::TuningPick& run, const plan::TuningPick& of_nccl,
                      plan::Function function, std::uint64_t bytes) const;
  std::optional<std::uint64_t> SlowedTime(plan::Function function, const plan::TuningPick& pick,
                                          std::uint64_t bytes) const;

  plan::GpuPlan gpus_;
  std::vector<std::uint64_t> identities_;
  std::vector<std::vector<Rank>> rings_;  // of each channel
  std::vector<std::uint32_t> numbers_;    // of each rank among all, node after node
  plan::P2pSchedule messages_;
  SlowRates slow_;                           // refers to gpus_
  std::optional<plan::Tuning> slow_tuning_;  // nothing: no channel is slow
};

}  // namespace ringlet::comm
