#include "pytorch/store/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/value/text.hpp"

namespace ringlet::torch_api {
namespace {

constexpr std::string_view kBegin = "ringlet:";
constexpr std::size_t kTextMax = 200;

bool IsMember(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.';
  });
}

}  // namespace

std::string MemberHandle::Text() const {
  return fmt::format("{}{}:{}", kBegin, member, generation);
}

Result<MemberHandle> MemberHandle::Parse(std::string_view text) {
  const Error no_handle{
      Code::kInvalidArgument,
      fmt::format("'{}' is not the handle of a Ringlet rank: handles begin with 'ringlet:'",
                  Printable(text.substr(0, kTextMax), kTextMax))};
  if (!text.starts_with(kBegin) || text.size() > kTextMax) return no_handle;
  const std::string_view rest = text.substr(kBegin.size());
  const auto colon = rest.find(':');
  if (colon == std::string_view::npos || !IsMember(rest.substr(0, colon))) return no_handle;
  const auto generation = ParseDecimal(rest.substr(colon + 1));
  if (!generation) return no_handle;
  return MemberHandle{std::string(rest.substr(0, colon)), *generation};
}

Result<MemberRank> FindMemberRank(const std::vector<std::string>& handles,
                                  const MemberHandle& own) {
  std::map<std::string, std::size_t> seen;
  std::optional<std::size_t> place;
  for (std::size_t rank = 0; rank < handles.size(); ++rank) {
    RINGLET_TRY_ASSIGN(const MemberHandle handle, MemberHandle::Parse(handles[rank]));
    const auto [before, is_new] = seen.emplace(handle.member, rank);
    if (!is_new)
      return Error{Code::kInvalidArgument, fmt::format("ranks {} and {} have the same handle, '{}'",
                                                       before->second, rank, handles[rank])};
    if (handle.member != own.member) continue;
    if (handle.generation != own.generation)
      return Error{Code::kInvalidArgument,
                   fmt::format("the handle '{}' of this rank is outdated: its group formed again, "
                               "and the handle is now '{}'; collect the handles again",
                               handles[rank], own.Text())};
    place = rank;
  }
  if (!place)
    return Error{Code::kInvalidArgument, fmt::format("this rank, '{}', is not among the {} members",
                                                     own.Text(), handles.size())};
  return MemberRank{static_cast<std::uint32_t>(*place), static_cast<std::uint32_t>(handles.size())};
}

}  // namespace ringlet::torch_api
