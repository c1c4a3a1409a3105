// NCCL's search: the bandwidths, path types and options to try, their order, and the end condition.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/channels/search_step.hpp"
#include "plan/routes/limits.hpp"
#include "plan/routes/search_options.hpp"
#include "plan/search/channel_search.hpp"

namespace ringlet::plan {

/// A request for one pattern.
struct Wanted {
  GraphId id = GraphId::kRing;
  Pattern pattern = Pattern::kRing;
  std::uint32_t min_channels = 1;
  std::uint32_t max_channels = 1;
};

/// The properties of a system that bound and direct the search.
struct SystemFacts {
  topology::Bandwidth widest;  ///< from topology::SystemLimits
  topology::Bandwidth total;
  std::uint32_t device_count = 0;        ///< kDev nodes, also those of other domains
  std::uint32_t compute_capability = 0;  ///< the lowest of the GPUs
  bool amd = false;                      ///< true if the first processor is AMD's
  bool two_islands = false;              ///< true if NVLink forms two groups of GPUs
  topology::PathType min_intra = topology::PathType::kLoc;
  topology::PathType max_intra = topology::PathType::kSys;
  topology::PathType min_inter = topology::PathType::kPix;
  topology::PathType max_inter = topology::PathType::kSys;
  std::uint32_t types_intra = 0;  ///< bit t: some path between devices has type t
  std::uint32_t types_inter = 0;  ///< bit t: some path between device and NIC has type t
};
SystemFacts FactsOf(const RouteTable& table, bool multi_node);

/// The bandwidths of a channel that NCCL tries, in MB/s, descending.
std::span<const std::uint32_t> SpeedsOf(std::uint32_t compute_capability, bool multi_node);

using LimitsOfPattern = std::function<const Limits&(GraphId)>;

class CompatSearch {
 public:
  /// All reference parameters must outlive this object.
  /// \param limits  returns the limits of a pattern; only long searches call it
  CompatSearch(RouteTable& table, NicSelector& nets, ChannelSearch& search,
               const SystemFacts& facts, const SearchOptions& options, LimitsOfPattern limits)
      : table_(table),
        nets_(nets),
        search_(search),
        facts_(facts),
        options_(options),
        limits_(std::move(limits)) {}

  /// \param search_trace  the function appends search steps, if not null
  PatternGraph Find(const Wanted& wanted, SearchTrace* search_trace);

 private:
  void Prepare(const Wanted& wanted);
  void FirstPass();
  bool NextSearchStep();
  bool NextTypes();
  bool NextSpeed();
  void SecondPass();
  bool TryHigherSpeed();
  bool Run();
  bool IsHopeless();
  StepOutcome RunSearchStep(std::int64_t budget);
  void ReturnUnusedBudget();
  void Await();
  bool Content() const;
  StopReason WhyStopped() const;
  void Duplicate();
  void UseFallback();
  SearchStep RelevantPart(const SearchStep& search_step) const;

  RouteTable& table_;
  NicSelector& nets_;
  ChannelSearch& search_;
  const SystemFacts& facts_;
  const SearchOptions& options_;
  LimitsOfPattern limits_;

  SearchTrace* search_trace_ = nullptr;
  Wanted wanted_;
  PatternGraph best_;
  SearchStep search_step_;
  std::span<const std::uint32_t> speeds_;
  std::size_t speed_ = 0;  // index into speeds_
  std::size_t first_speed_ = 0;
  std::uint8_t cross_nic_ = 0;  // maximum of cross_nic
  bool try_same_ = true;
  std::int64_t budget_ = 0;  // for all search steps
  std::int64_t left_ = 0;    // of the latest search step
  bool left_known_ = true;   // false: the step was hopeless and did not run
  /// Skipped search steps. The steps that they would have left are not yet in budget_.
  std::vector<SearchStep> awaited_;
  std::int64_t awaited_budget_ = 0;
  bool any_budget_out_ = false;
  /// A search step with a known outcome: that of the step before.
  struct KnownStep {
    StepOutcome outcome;
    std::int64_t taken = 0;  // steps taken from its budget
  };
  std::optional<KnownStep> again_;
  bool second_pass_ = false;
  std::vector<std::pair<SearchStep, std::int64_t>> tried_;  // with the steps that each left
};

}  // namespace ringlet::plan
