#include "bootstrap/world_ranks.hpp"

namespace ringlet::bootstrap {

WorldRanks::WorldRanks(std::vector<std::uint32_t> ranks) {
  auto list = std::make_shared<List>();
  list->ranks = std::move(ranks);
  for (std::uint32_t rank = 0; rank < list->ranks.size(); ++rank)
    list->places.emplace(list->ranks[rank], rank);
  list_ = std::move(list);
}

WorldRanks WorldRanks::Without(std::shared_ptr<const Survivors> survivors) const {
  WorldRanks ranks = *this;
  ranks.survivors_ = std::move(survivors);
  return ranks;
}

std::optional<std::uint32_t> WorldRanks::PlaceInList(std::uint32_t peer) const {
  if (!list_) return peer;
  const auto it = list_->places.find(peer);
  if (it == list_->places.end()) return std::nullopt;
  return it->second;
}

}  // namespace ringlet::bootstrap
