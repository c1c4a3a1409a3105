#include "bootstrap/root_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bootstrap/difference.hpp"

namespace ringlet::bootstrap {
namespace {

// Every rank receives the text, and a longer list would not help.
std::string Shortened(std::string ranges) {
  constexpr std::size_t kRangesBytesMax = 512;
  if (ranges.size() <= kRangesBytesMax) return ranges;
  ranges.resize(ranges.rfind(',', kRangesBytesMax));
  return ranges + ", ...";
}

// "node7 (3), node8 (1)": the number of members on each host.
std::string HostsText(const std::map<std::uint32_t, RootJob::JobMember>& members) {
  std::map<std::string, std::uint32_t> by_host;
  for (const auto& [rank, member] : members) {
    Reader in(member.record.member_address);
    ++by_host[DecodeMemberAddress(in).host];
  }
  std::string hosts;
  for (const auto& [host, count] : by_host) {
    if (hosts.size() > 1000) {
      hosts += ", ...";
      break;
    }
    hosts += fmt::format("{}{} ({})", hosts.empty() ? "" : ", ", host, count);
  }
  return hosts.empty() ? "nowhere" : hosts;
}

// Callers that were turned away or left. Ranks may be among them.
std::string RefusedText(const RejectionLog& log) {
  std::string refused;
  if (log.turned_away() > 0)
    refused += fmt::format("; callers turned away: {}, the last {}", log.turned_away(), log.last());
  if (log.left() > 0)
    refused += fmt::format(
        "; callers that hung up before they introduced themselves: {} (a rank with another "
        "RINGLET_SECRET or unique id does so)",
        log.left());
  return refused;
}

}  // namespace

Instant LadderStep(Instant timeout) {
  return std::clamp<Instant>(timeout / 20, std::chrono::milliseconds(20), std::chrono::seconds(2));
}

// The first root waits for the other roots too, and knows less about their missing ranks.
Instant RootDeadline(const CheckIn& check_in, Instant now) {
  const Instant left = std::chrono::milliseconds(check_in.timeout_ms);
  return now + left - LadderStep(left) * (check_in.root.index == 0 ? 1 : 2);
}

std::string DescribeRecord(std::uint32_t rank, View record) {
  const auto member_address = ParseMemberAddress(record);
  return member_address.ok() ? Describe(Rank{rank}, *member_address) : fmt::format("rank {}", rank);
}

std::string WhyStopped(const IsStopped& is_stopped, View record) {
  const auto address = ParseMemberAddress(record);
  return address.ok() ? StoppedText(is_stopped, address->host, address->pid) : std::string();
}

std::optional<std::string> WhyUnfit(const CheckIn& check_in) {
  if (check_in.size == 0 || check_in.size > kSizeMax)
    return fmt::format("world size {} is not between 1 and {}", check_in.size, kSizeMax);
  if (check_in.rank >= check_in.size)
    return fmt::format("rank {} is not below the world size {}", check_in.rank, check_in.size);
  if (check_in.shape == Shape::kRing && check_in.root.count != 1)
    return fmt::format("rank {} was given {} unique ids for a ring, which has one root",
                       check_in.rank, check_in.root.count);
  if (check_in.root.count == 0 || check_in.root.count > check_in.size ||
      check_in.root.index >= check_in.root.count)
    return fmt::format("rank {} checks in at root {} of {} for {} ranks, which is impossible",
                       check_in.rank, check_in.root.index, check_in.root.count, check_in.size);
  if (check_in.member_address.addresses.empty() && check_in.size > 1)
    return fmt::format("rank {} announces no address at which its peers can reach it",
                       check_in.rank);
  return std::nullopt;
}

bool IsOfThisRoot(const CheckIn& check_in) {
  return RootOfRank(check_in.rank, check_in.size, check_in.root.count) == check_in.root.index;
}

Result<JoinedLocalRank> ReadLocalRank(View leader_record, View frame) {
  RINGLET_TRY_ASSIGN(auto local_rank, ParseLocalRank(frame));
  RINGLET_TRY_ASSIGN(Bytes record,
                     ApplyDifference(leader_record, local_rank.difference, kRecordBytesMax));
  RINGLET_TRY_ASSIGN(local_rank.check_in.member_address, ParseMemberAddress(record));
  return JoinedLocalRank{std::move(local_rank.check_in), std::move(record)};
}

PlaceRange RootJob::RanksOfThisRoot() const {
  return RanksOfRoot(first_.root, first_.size);
}

PlaceRange RootJob::Expected() const {
  return IsFirstRoot() ? PlaceRange{0, first_.size} : RanksOfThisRoot();
}

Roster RootJob::BuildRoster() const {
  std::vector<RankRecord> records;
  records.reserve(members_.size());
  for (const auto& [rank, member] : members_) records.push_back(member.record);
  return Roster::Build(Expected().first, records);
}

std::optional<std::string> RootJob::WhyUnlikeFirst(const CheckIn& check_in) const {
  const std::string first = DescribeRecord(first_.rank, first_record_);
  const std::string me = bootstrap::Describe(Rank{check_in.rank}, check_in.member_address);
  if (check_in.size != first_.size)
    return fmt::format("{} was given world size {}, {} was given {}", me, check_in.size, first,
                       first_.size);
  if (check_in.root != first_.root)
    return fmt::format(
        "{} was given {} unique ids with this one at place {}, {} was given {} with "
        "it at place {}: all ranks need the same list",
        me, check_in.root.count, check_in.root.index, first, first_.root.count, first_.root.index);
  if (check_in.shape != first_.shape || check_in.arity != first_.arity)
    return fmt::format("RINGLET_BOOTSTRAP or RINGLET_TREE_ARITY differs between {} and {}", me,
                       first);
  if (members_.contains(check_in.rank) && IsOfThisRoot(check_in))
    return fmt::format("rank {} was given to two processes: {} and {}", check_in.rank, me,
                       Describe(check_in.rank));
  return std::nullopt;
}

Status RootJob::AdmitSection(LineId line, const Roster& section) {
  const std::uint64_t end = std::uint64_t{section.first()} + section.size();
  const bool fits = IsFirstRoot() && end <= first_.size &&
                    members_.lower_bound(section.first()) ==
                        members_.lower_bound(static_cast<std::uint32_t>(end));
  if (!fits) return Error{Code::kProtocol, "records of ranks that have checked in already"};
  for (std::uint32_t rank = section.first(); rank < end; ++rank) {
    auto record = section.RecordAt(Rank{rank});
    const auto node_leader = section.NodeLeaderOf(Rank{rank});
    if (!record.ok() || !node_leader.ok() || !ParseMemberAddress(*record).ok())
      return Error{Code::kProtocol, "malformed records"};
    Admit(rank, JobMember{line, {std::move(*record), Index(*node_leader)}});
  }
  return Ok();
}

std::string RootJob::Describe(std::uint32_t rank) const {
  return DescribeRecord(rank, members_.at(rank).record.member_address);
}

// Reports the first stopped member only.
std::string RootJob::StoppedMember(const IsStopped& is_stopped) const {
  for (const auto& [rank, member] : members_)
    if (const std::string why = WhyStopped(is_stopped, member.record.member_address); !why.empty())
      return fmt::format(": {} {}", Describe(rank), why);
  return "";
}

std::string RootJob::MissingText(const RejectionLog& log) const {
  const PlaceRange expected = Expected();
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = expected.first; rank < expected.first + expected.count; ++rank)
    if (!members_.contains(rank)) missing.push_back(rank);
  return fmt::format("rank{} {}: {} of {} ranks checked in{}, from {}{}",
                     missing.size() == 1 ? "" : "s", Shortened(RangesText(missing)),
                     members_.size(), expected.count,
                     IsFirstRoot() ? std::string() : fmt::format(" at root {}", first_.root.index),
                     HostsText(members_), RefusedText(log));
}

}  // namespace ringlet::bootstrap
