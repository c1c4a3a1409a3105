#include "comm/peers/waiting.hpp"

#include <algorithm>
#include <map>

namespace ringlet::comm {
namespace {

using collective::WaitPolicy;
using topology::CpuSet;

// Assigns one CPU to each rank. If all CPUs of a rank are taken, their owners move if they can.
class CpuAssignment {
 public:
  explicit CpuAssignment(const std::vector<CpuSet>& ranks) : ranks_(ranks) {}

  bool Assign(std::size_t rank) {
    asked_.clear();
    return TakeFreeCpu(rank) || Move(rank);
  }

 private:
  bool TakeFreeCpu(std::size_t rank) {
    for (const CpuRange& range : ranks_[rank].ranges())
      for (std::uint32_t cpu = range.first; cpu <= range.last; ++cpu)
        if (taken_.emplace(cpu, rank).second) return true;
    return false;
  }

  // All CPUs that `rank` may have are taken. The depth is at most the number of ranks.
  bool Move(std::size_t rank) {
    for (const CpuRange& range : ranks_[rank].ranges())
      for (std::uint32_t cpu = range.first; cpu <= range.last; ++cpu) {
        if (!asked_.emplace(cpu, rank).second) continue;
        const std::size_t owner = taken_.at(cpu);
        if (!TakeFreeCpu(owner) && !Move(owner)) continue;
        taken_[cpu] = rank;
        return true;
      }
    return false;
  }

  const std::vector<CpuSet>& ranks_;
  std::map<std::uint32_t, std::size_t> taken_, asked_;  // by CPU
};

}  // namespace

bool HasCoreForEachRank(const std::vector<CpuSet>& ranks) {
  CpuAssignment assignment(ranks);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (!assignment.Assign(rank)) return false;
  return true;
}

namespace {

// Returns the number of ranks that may use the CPUs of `self`, for each of these CPUs.
std::size_t RanksPerCore(const std::vector<CpuSet>& ranks, const CpuSet& self) {
  if (self.empty()) return 1;
  const auto sharing =
      std::ranges::count_if(ranks, [&](const CpuSet& one) { return one.CountCommon(self) > 0; });
  return (static_cast<std::size_t>(sharing) + self.Count() - 1) / self.Count();
}

}  // namespace

WaitPolicy WaitPolicyOf(const PeerTable& peer_table, Rank self, WaitChoice wait) {
  switch (wait) {
    case WaitChoice::kSpin: return WaitPolicy::WithCores();
    case WaitChoice::kSleep: return WaitPolicy();
    case WaitChoice::kYield:
    case WaitChoice::kAuto: break;
  }
  std::vector<CpuSet> local_host;
  for (const PeerInfo& peer_info : peer_table.peer_infos)
    if (peer_info.host_hash == peer_table.peer_infos[Index(self)].host_hash)
      local_host.push_back(peer_info.cpus);
  if (wait == WaitChoice::kAuto && HasCoreForEachRank(local_host)) return WaitPolicy::WithCores();
  return WaitPolicy::Sharing(RanksPerCore(local_host, peer_table.peer_infos[Index(self)].cpus));
}

}  // namespace ringlet::comm
