#include "transport/wireup/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ringlet::transport {

Links::Links(std::shared_ptr<RankBell> bell, std::vector<std::unique_ptr<Link>> links)
    : bell_(std::move(bell)) {
  Add(std::move(links));
}

void Links::Add(std::vector<std::unique_ptr<Link>> links) {
  for (auto& link : links) links_.push_back(std::move(link));
  std::sort(links_.begin(), links_.end(),
            [](const auto& a, const auto& b) { return a->peer() < b->peer(); });
  if (!links_.empty()) by_peer_.resize(Index(links_.back()->peer()) + std::size_t{1}, nullptr);
  for (const auto& link : links_) by_peer_[Index(link->peer())] = link.get();
}

std::string Links::Summary() const {
  std::map<std::string_view, std::size_t> count;
  for (const auto& link : links_) ++count[link->kind()];
  std::string text;
  for (const auto& [kind, n] : count)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, kind);
  return text.empty() ? "none" : text;
}

}  // namespace ringlet::transport
