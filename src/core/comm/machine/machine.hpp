// The machine that a communicator's ranks emulate, if RINGLET_MACHINE names a topology file. It is
// planned as NCCL would plan it, and calls run on its channels.
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

/// NCCL's choice of carriage, algorithm and channels for a call.
struct MachineAlgorithm {
  plan::TransferPurpose carriage = plan::TransferPurpose::kMessage;
  std::optional<plan::TuningPick> pick = {};  ///< of rings and trees
  std::uint32_t channels = 0;                 ///< of these
  /// NCCL's choice if it is NVLS or another algorithm that does not run here. Empty if it is
  /// `pick`.
  std::optional<plan::TuningPick> nccl_pick = {};
  /// The time of NCCL's choice with the slow links. Empty if these do not matter.
  std::optional<std::uint64_t> slowed_ns = {};

  /// Returns the time that NCCL's model predicts. \pre  `pick` is set
  std::uint64_t predicted_ns() const {
    if (slowed_ns) return *slowed_ns;
    return nccl_pick ? nccl_pick->time_ns : pick->time_ns;
  }
  bool operator==(const MachineAlgorithm&) const = default;
};

/// Returns NCCL's function of a collective. Empty for calls that run on messages.
std::optional<plan::Function> FunctionOf(collective::CallKind kind);

/// Returns the number of ranks of each node.
std::vector<std::uint32_t> NodeSizes(const plan::GpuPlan& gpus);

/// Reads all settings of plans for GPUs, except graph files.
/// Errors  kInvalidArgument  a variable makes no sense
Result<plan::GpuPlanOptions> GpuPlanOptionsOf(const Settings& settings);

class GpuMachine {
 public:
  /// Returns the constants of the time model for a plan that has those of NCCL.
  using Tune = std::function<plan::TuningConstants(const plan::GpuPlan&)>;

  /// \param peer_table  its hosts assign ranks to GPUs
  /// \param tune        null: the constants of NCCL
  /// Errors  as plan::PlanGpus; two ranks on one GPU: names both and the cure
  static Result<std::shared_ptr<const GpuMachine>> Plan(const Settings& settings,
                                                        const PeerTable& peer_table,
                                                        const plan::GraphText& graphs,
                                                        const Tune& tune = nullptr);

  const plan::GpuPlan& gpus() const { return gpus_; }
  /// The hosts of PlanGpus, as RINGLET_HOSTID names them: equal in all communicators.
  std::uint64_t IdentityOf(std::uint32_t host) const { return identities_[host]; }

  /// Returns rings or trees by NCCL's time model, among those that NCCL_ALGO, NCCL_PROTO and the
  /// call allow. Returns messages for calls that have neither. The choice of a tuner has priority.
  /// Errors  kInvalidArgument  no algorithm is allowed; names the function and the settings
  Result<MachineAlgorithm> AlgorithmNamesOf(const collective::Call& call) const;
  /// Returns the times of all algorithms that the call admits, for a tuner. Includes those that do
  /// not run here. \pre  FunctionOf(its kind) is set
  plan::TimeTable TimesOf(const collective::Call& call) const;

  /// Returns this rank's schedule. \pre  the way is that of this call
  collective::Schedule ScheduleOf(const collective::Call& call, collective::CallPlace place,
                                  const MachineAlgorithm& way) const;
  /// Returns the elements that this rank sends for the call. Messages have channel 0, and
  /// ChannelsOfMessage returns their channels.
  std::vector<collective::RankLoad> LoadsOf(const collective::Call& call,
                                            collective::CallPlace place,
                                            const MachineAlgorithm& way) const;

  /// Returns the channels that carry a message between two ranks.
  std::vector<std::uint32_t> ChannelsOfMessage(Rank from, Rank to) const;

  /// Returns the millionths of its rate that RINGLET_SLOW leaves to a link.
  std::uint32_t ShareOf(const plan::HardwareLink& link) const { return slow_.ShareOf(link); }

  /// Returns the graph file of this rank's node.
  std::string GraphsOf(Rank rank) const;

 private:
  GpuMachine(plan::GpuPlan gpus, const PeerTable& peer_table, std::vector<SlowLink> slow,
             const plan::TuningChoice& choice);
  MachineAlgorithm WayAlong(const plan::TuningPick& run, const plan::TuningPick& of_nccl,
                            plan::Function function, std::uint64_t bytes) const;
  std::optional<std::uint64_t> SlowedTime(plan::Function function, const plan::TuningPick& pick,
                                          std::uint64_t bytes) const;

  plan::GpuPlan gpus_;
  std::vector<std::uint64_t> identities_;
  std::vector<std::vector<Rank>> rings_;  // of each channel
  std::vector<std::uint32_t> numbers_;    // of each rank among all, node after node
  plan::P2pSchedule messages_;
  SlowRates slow_;                           // refers to gpus_
  std::optional<plan::Tuning> slow_tuning_;  // empty: no channel is slow
};

}  // namespace ringlet::comm
