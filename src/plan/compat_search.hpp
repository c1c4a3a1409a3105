// NCCL's search: which bandwidth, types of paths and freedoms it tries, in which order, and when it
// is content.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/channel_search.hpp"
#include "plan/host_search.hpp"
#include "plan/limits.hpp"
#include "plan/trial.hpp"

namespace ringlet::plan {

/// What a pattern is asked for.
struct Wanted {
  GraphId id = GraphId::kRing;
  Pattern pattern = Pattern::kRing;
  std::uint32_t min_channels = 1;
  std::uint32_t max_channels = 1;
};

/// What of a system bounds the search, and steers it.
struct SystemFacts {
  topology::Bandwidth widest;  ///< topology::SystemLimits
  topology::Bandwidth total;
  std::uint32_t device_count = 0;        ///< kDev nodes: also those of other domains
  std::uint32_t compute_capability = 0;  ///< the lowest
  bool amd = false;                      ///< the first processor is AMD's
  bool two_islands = false;              ///< of NVLink
  topology::PathType min_intra = topology::PathType::kLoc;
  topology::PathType max_intra = topology::PathType::kSys;
  topology::PathType min_inter = topology::PathType::kPix;
  topology::PathType max_inter = topology::PathType::kSys;
  std::uint32_t types_intra = 0;  ///< bit t: some path between devices has type t
  std::uint32_t types_inter = 0;  ///< between device and NIC
};
SystemFacts FactsOf(const WayTable& table, bool beyond);

/// The bandwidths of a channel that NCCL tries, MB/s, descending.
std::span<const std::uint32_t> SpeedsOf(std::uint32_t compute_capability, bool beyond);

using LimitsOfPattern = std::function<const Limits&(GraphId)>;

class CompatSearch {
 public:
  /// All outlive this.
  /// \param limits  of a pattern; asked for once a search takes long
  CompatSearch(WayTable& table, NetChoice& nets, ChannelSearch& search, const SystemFacts& facts,
               const SearchOptions& options, LimitsOfPattern limits)
      : table_(table),
        nets_(nets),
        search_(search),
        facts_(facts),
        options_(options),
        limits_(std::move(limits)) {}

  /// \param story  if not null, trials are added
  PatternGraph Find(const Wanted& wanted, Story* story);

 private:
  void Prepare(const Wanted& wanted);
  void FirstPass();
  bool NextTrial();
  bool NextTypes();
  bool NextSpeed();
  void SecondPass();
  bool Faster();
  bool Run();
  bool Hopeless();
  TrialOutcome RunTrial(std::int64_t budget);
  void GiveBudgetBack();
  void Await();
  bool Content() const;
  StopReason WhyStopped() const;
  void Duplicate();
  void FallBack();
  Trial Essence(const Trial& trial) const;

  WayTable& table_;
  NetChoice& nets_;
  ChannelSearch& search_;
  const SystemFacts& facts_;
  const SearchOptions& options_;
  LimitsOfPattern limits_;

  Story* story_ = nullptr;
  Wanted wanted_;
  PatternGraph best_;
  Trial trial_;
  std::span<const std::uint32_t> speeds_;
  std::size_t speed_ = 0;  // index into speeds_
  std::size_t first_speed_ = 0;
  std::uint8_t cross_nic_ = 0;  // what is allowed
  bool try_same_ = true;
  std::int64_t budget_ = 0;  // of all trials
  std::int64_t left_ = 0;    // of the latest trial
  bool left_known_ = true;   // false: it was hopeless and not run
  /// Trials that were not run; what they would have left is missing in budget_.
  std::vector<Trial> awaited_;
  std::int64_t awaited_budget_ = 0;
  bool any_budget_out_ = false;
  /// A trial of which it is known what comes of it: what came of the one before.
  struct Known {
    TrialOutcome outcome;
    std::int64_t taken = 0;  // of its budget
  };
  std::optional<Known> again_;
  bool second_pass_ = false;
  std::vector<std::pair<Trial, std::int64_t>> tried_;  // and what was left of the budget
};

}  // namespace ringlet::plan
