// Agreement of ranks on the members of a group that is formed anew. Only module.cpp includes it.
#pragma once
#include "pytorch/life/versions.hpp"

#ifdef C10D_BACKEND_HAS_RECONFIGURE
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace ringlet::torch_api {

/// Returns the handles of all members in rank order.
inline std::vector<std::string> InOrder(const decltype(c10d::ReconfigureOptions::handles)& given) {
  if (const auto* ordered = std::get_if<std::vector<std::string>>(&given)) return *ordered;
  const auto& set = std::get<std::unordered_set<std::string>>(given);
  std::vector<std::string> handles(set.begin(), set.end());
  std::ranges::sort(handles);
  return handles;
}

/// The first rank puts the members into the store; each other rank must pass the same members.
inline void AgreeOnMembers(c10d::Store& store, std::int64_t uuid,
                           const std::vector<std::string>& handles) {
  const std::string mine = fmt::format("{}", fmt::join(handles, " "));
  const auto first = [&] {
    const std::vector<std::uint8_t> text(mine.begin(), mine.end());
    const auto found = store.compareSet("members", {}, text);
    return std::string(found.begin(), found.end());
  }();
  TORCH_CHECK(first == mine, "ringlet: reconfigure: the uuid ", uuid,
              " was already used for other members, ", first, ", and not for ", mine);
}

}  // namespace ringlet::torch_api
#endif
