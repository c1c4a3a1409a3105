#include "bootstrap/member/failure_spread.hpp"

#include <algorithm>

namespace ringlet::bootstrap {
namespace {

// Maximum number of absent ranks that one rank replaces for one failure. When nearly all have left,
// few ranks remain to notify, and each of them would call all.
constexpr std::size_t kPassedMax = 64;

std::vector<std::uint32_t> AllOf(const TreePlace& place) {
  std::vector<std::uint32_t> all = place.children;
  if (place.parent) all.push_back(*place.parent);
  return all;
}

// The neighbours of any rank in the tree of the group.
std::vector<std::uint32_t> NextInTree(const GroupProtocol& group, std::uint32_t rank,
                                      std::uint32_t arity) {
  if (rank == group.self()) return AllOf(group.place());
  return AllOf(group.roster().PlaceOf(Rank{rank}, arity));
}

std::vector<std::uint32_t> NextTo(const GroupProtocol& group, std::uint32_t rank,
                                  std::uint32_t arity) {
  const std::uint32_t size = group.size();
  if (group.shape() == Shape::kRing) return {(rank + 1) % size, (rank + size - 1) % size};
  return NextInTree(group, rank, arity);
}

}  // namespace

bool FailureSpread::RecordReceived(std::uint32_t from) {
  knows_.insert(from);
  return begun_ && called_.insert(from).second;
}

bool FailureSpread::MarkAbsent(std::uint32_t rank) {
  if (!called_.contains(rank)) return false;
  absent_.insert(rank);
  return true;
}

bool FailureSpread::MayPass(std::uint32_t rank) const {
  return passed_.contains(rank) || passed_.size() < kPassedMax;
}

std::vector<std::uint32_t> FailureSpread::Next(const GroupProtocol& group, std::uint32_t arity,
                                               const IsLost& is_lost) {
  called_.insert(group.self());
  std::vector<std::uint32_t> to_tell, next = NextTo(group, group.self(), arity);
  std::set<std::uint32_t> passed_now;
  while (!next.empty()) {
    const std::uint32_t rank = next.back();
    next.pop_back();
    const bool left = group.HasLeft(rank);
    if (left && knows_.contains(rank)) continue;
    // The neighbours of a lost rank have lost their connections to it, and know. In a group that is
    // being formed they may not have a connection yet.
    const bool lost = group.id() != kWorld && is_lost(rank);
    if (left || lost || absent_.contains(rank)) {
      if (!MayPass(rank) || !passed_now.insert(rank).second) continue;
      passed_.insert(rank);
      for (const std::uint32_t beyond : NextTo(group, rank, arity)) next.push_back(beyond);
    } else if (called_.insert(rank).second && !is_lost(rank)) {
      to_tell.push_back(rank);
    }
  }
  return to_tell;
}

bool FailureSpread::AwaitsAnswers(const GroupProtocol& group, const IsLost& is_lost) const {
  return std::ranges::any_of(called_, [&](std::uint32_t rank) {
    const bool gone = group.HasLeft(rank) || absent_.contains(rank) || is_lost(rank);
    return rank != group.self() && !gone && !knows_.contains(rank);
  });
}

}  // namespace ringlet::bootstrap
