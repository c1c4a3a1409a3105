// Runs one search step: places channels device by device, and backtracks if a link is full.
//
// The order of devices and NICs and the count of steps are NCCL's, so that both find the same first
// solution. NCCL recurses for each device of each channel. This class keeps its own stack. It does
// not search a state again that failed with the same remaining bandwidth, but counts its steps.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/channels/search_step.hpp"
#include "plan/routes/nic_selector.hpp"
#include "plan/routes/route_table.hpp"
#include "plan/routes/search_options.hpp"
#include "plan/routes/transposition_table.hpp"

namespace ringlet::plan {

class ChannelSearch {
 public:
  /// All reference parameters must outlive this object.
  ChannelSearch(RouteTable& table, NicSelector& nets, const SearchOptions& options);

  /// \param budget  maximum number of steps
  /// \param best    the function replaces it with every better result
  StepOutcome Run(const SearchStep& search_step, std::int64_t budget, PatternGraph& best);

  /// Steps left after the latest Run(). -1: the step found all channels, and they were better.
  std::int64_t left() const { return budgets_[0]; }

  /// Returns true if the latest Run() began a second channel. Else same_channels does not matter.
  bool began_second() const { return began_second_; }

 private:
  enum class Mode : std::uint8_t { kFree, kIndexOrder, kReplay };
  enum class Kind : std::uint8_t {
    kStart,  // start of a channel: choose a NIC and a device
    kEntry,  // start of a channel at one NIC: choose a device
    kExit,   // at a device: choose the NIC to leave by
    kNext,   // at a device: choose the next device
    kClose,  // return to the first device
    kHead,   // the NVSwitch and all devices
    kFan,    // a device and all others
    kPass,   // the channel needs no more routes
    kDone,   // a channel is complete
  };
  struct SearchFrame {
    Kind kind = Kind::kStart;
    Mode mode = Mode::kFree;
    std::uint8_t budget = 0;
    bool undo = false;  // true if the latest alternative must be undone
    bool headed = false;
    bool crossroads = false;  // true if the frame has an entry in crossroads_
    bool sure = false;        // kNext: the routes to all candidates have room
    std::int32_t step = 0;
    std::int32_t exit_at = -1;   // step where the channel leaves the host; -1: never, or done
    std::int32_t close_at = -1;  // step where the channel returns to the first device
    std::uint32_t device = 0;
    std::uint32_t net = 0;   // for kEntry
    std::uint32_t next = 0;  // number of the next alternative
    std::uint32_t end = 0;
    std::uint32_t first = 0;   // kNext: its first candidate in candidates_
    std::uint32_t chosen = 0;  // the choice of the latest alternative
    std::uint32_t route = 0;   // its route
  };

  /// A frame with a state that the search can reach again in another way.
  struct RevisitableFrame {
    std::uint64_t state = 0;
    std::uint64_t steps = 0, gains = 0;  // at the start of the frame
  };

  /// A candidate for the next device of a channel, and the route to it.
  struct NextDevice {
    std::uint32_t device = 0;
    std::uint32_t route = 0;
  };
  /// A candidate, ranked by the properties that do not depend on the remaining bandwidth.
  struct Ranked {
    NextDevice candidate;
    std::uint32_t likes = 0;  // equal for candidates at equal distance and bandwidth
  };

  std::uint32_t channel() const { return static_cast<std::uint32_t>(channels_); }
  std::uint32_t& Device(std::uint32_t channel, std::uint32_t step) {
    return order_[channel * devices_ + step];
  }
  std::uint8_t& Used(std::uint32_t channel, std::uint32_t device) {
    return used_[channel * devices_ + device];
  }
  void ToggleUsed(std::uint32_t device) {
    Used(channel(), device) ^= 1;
    if (options_.multi_node) used_state_ ^= Scatter(device);
  }

  void PutDevice(std::uint32_t step, std::uint32_t device);
  void StartChannel(std::uint8_t budget);
  void StartNext(std::uint8_t budget);
  bool Visit(std::uint32_t device, std::int32_t step, std::int32_t exit_at, std::int32_t close_at,
             Mode mode, std::uint8_t budget);
  void Complete(std::uint8_t budget);
  void Gain(std::uint8_t budget);
  bool Advance(SearchFrame& frame);
  bool AdvanceStart(SearchFrame& frame);
  bool AdvanceStartHere(SearchFrame& frame);
  bool AdvanceStartFromNet(SearchFrame& frame);
  bool AdvanceEntry(SearchFrame& frame);
  bool AdvanceExit(SearchFrame& frame);
  bool AdvanceNext(SearchFrame& frame);
  bool AdvanceOnce(SearchFrame& frame);
  void Undo(SearchFrame& frame);
  void Pop();
  std::uint64_t State(std::optional<std::uint32_t> device) const;
  bool CanUseTranspositions(Mode mode) const;
  const TranspositionTable::End* KnownEnd(std::optional<std::uint32_t> device);
  bool Skip(const TranspositionTable::End& end, std::uint8_t budget);
  void RecordState();
  void Unwind(std::uint8_t budget);

  bool Repeats() const;
  void Repeat(std::uint8_t budget);
  void ListLatest();
  std::size_t RoomForMore(std::size_t most);
  std::size_t FailingRoute(std::size_t more);
  void CompleteMore(std::size_t more, std::uint8_t budget);
  void RefuseMore(std::size_t more, std::size_t route);
  void SpendMore(std::int64_t steps, std::uint8_t budget);

  bool Enter(SearchFrame& frame, NextDevice next, std::int64_t mb_per_s);
  void Leave(const SearchFrame& frame, std::int64_t mb_per_s);
  bool HasAllowedTypes(const Route& route, bool inter, bool checked) const;
  void PlaceRoute(const Route& route, std::int64_t mb_per_s);
  std::uint64_t MarkOf(std::int64_t mb_per_s) const;
  bool CanReserve(const Route& route);
  NextDevice From(EndIndex from, std::uint32_t device) {
    return {device, table_.NumberOf(from, {End::kDevice, device})};
  }
  bool ReserveRoute(std::uint32_t route, bool inter, std::int64_t mb_per_s, bool checked);
  void ReleaseRoute(std::uint32_t route, std::int64_t mb_per_s);
  bool ReserveHead(std::uint32_t head);
  void ReleaseHead(std::uint32_t head, std::uint32_t legs);
  bool ReserveFan(std::uint32_t head);
  void ReleaseFan(std::uint32_t head, std::uint32_t legs);
  void LoadNet(std::uint32_t net, std::int64_t mb_per_s);
  bool CanExitBy(std::uint32_t net, std::uint32_t entry, std::int32_t step) const;
  bool SameNic(std::uint32_t a, std::uint32_t b) const;

  void ListCandidates(SearchFrame& frame);
  std::vector<Ranked> Rank(std::optional<std::uint32_t> net, std::uint32_t device);
  void SortByPci(const SearchFrame& frame);
  std::int64_t PciLeftGb(std::uint32_t device) const;
  void ListNeighbours(SearchFrame& frame);
  bool Better(const PatternGraph& best) const;
  void Save();
  std::uint64_t Place(const SearchFrame& frame) const;
  void Refuse(StepRefusal refusal, const Route* route, std::int64_t mb_per_s);
  void RefuseAt(std::uint64_t place, StepRefusal refusal, const Route* route,
                std::int64_t mb_per_s);

  RouteTable& table_;
  NicSelector& nets_;
  const SearchOptions& options_;
  const std::uint32_t devices_;
  Residual residual_;
  std::vector<std::int64_t> net_left_;                      // by NIC
  std::vector<std::int64_t> inter_gb_;                      // [NIC][device]
  std::vector<std::optional<std::vector<Ranked>>> ranked_;  // [NIC + 1, or 0 without a NIC][device]

  SearchStep search_step_;
  bool is_tree_ = false;  // true if the step's pattern is a tree
  PatternGraph* best_ = nullptr;
  StepOutcome outcome_;
  std::uint64_t farthest_ = 0;
  std::vector<SearchFrame> stack_;
  TranspositionTable transpositions_;
  std::vector<RevisitableFrame> crossroads_;
  // Sums of marks: of the routes in use, of visited devices, and of NICs in use.
  std::uint64_t laid_state_ = 0, used_state_ = 0, nets_state_ = 0;
  std::uint64_t gains_ = 0;  // number of improvements
  /// The routes of the latest channel, and its load on their links.
  struct Latest {
    std::vector<std::uint32_t> routes;
    std::vector<std::uint32_t> links;
    std::vector<std::int64_t> taken;  // by link; 0 for all other links
    std::vector<std::int64_t> spare;  // by link; 0 except in FailingRoute()
    std::int64_t hops = 0;
  };
  Latest latest_;
  std::vector<NextDevice> candidates_;
  std::vector<std::int64_t> pci_left_;
  std::vector<std::uint32_t> order_;   // [channel][step]
  std::vector<std::uint64_t> orders_;  // [channel][step]: a hash of the order so far
  std::vector<std::uint8_t> used_;     // [channel][device]
  std::vector<std::uint32_t> entry_, exit_;
  std::size_t channels_ = 0;  // number of complete channels
  std::int64_t hops_ = 0;
  std::uint32_t latency_ns_ = 0;
  bool began_second_ = false;
  std::int64_t budgets_[2] = {0, 0};  // for the search step, and for the order of numbers
};

}  // namespace ringlet::plan
