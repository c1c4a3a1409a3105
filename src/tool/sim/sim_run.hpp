// Runs one simulated job to its end and observes it.
#pragma once
#include <functional>

#include "tool/sim/sim_report.hpp"
#include "tool/sim/sim_world.hpp"

namespace ringlet::cli {

/// Observes the ranks of a world from outside: the states that they report, and when.
class SimWatch {
 public:
  /// Starts to observe. `world` and `options` outlive the run.
  SimWatch(SimWorld& world, const SimOptions& options);
  SimWatch(const SimWatch&) = delete;
  SimWatch& operator=(const SimWatch&) = delete;

  /// Times of a rank's states after the start; 0: not yet reached.
  struct StateTimes {
    Instant roster{0}, standing{0}, failed{0};
  };
  const StateTimes& seen(std::uint32_t rank) const { return seen_[rank]; }
  const SimPhases& phases() const { return phases_; }
  std::uint32_t rosters() const { return rosters_; }
  std::uint32_t standing() const { return standing_; }
  std::uint32_t failed() const { return failed_; }

  /// Returns all values except wall time and memory.
  SimRow Row();

 private:
  void After(sim::NodeId node);
  void AfterRank(std::uint32_t rank);
  void Settle(std::uint32_t rank);
  void CountTraffic(SimRow& row) const;
  void CountOutcomes(SimRow& row) const;

  SimWorld* world_;
  const bool faulty_;
  std::vector<StateTimes> seen_;
  SimPhases phases_;
  std::uint32_t rosters_ = 0, standing_ = 0, failed_ = 0, steps_ = 0;
  std::uint32_t unsettled_ = 0;  // ranks that the run still waits for
};

/// \param on_progress  called now and then Blocks until all ranks stand, all live ranks have
///                 failed, or the time is over.
void RunToEnd(SimWorld& world, const SimOptions& options, const std::function<void()>& on_progress);

}  // namespace ringlet::cli
