#include "tool/traffic/traffic_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/value/text.hpp"
#include "collective/call/call.hpp"
#include "os/fs/file_tree.hpp"
#include "tool/operation/bench_operation.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kRankRangesShown = 20;

/// Returns true for functions on pairs of ranks. Only one file has each of their calls.
bool IsOfOneRank(std::string_view function) {
  return function == Name(CallKind::kSendReceive) || function == Name(CallKind::kAllToAllV);
}

using FileCallKey =
    std::tuple<std::string, std::uint64_t, std::uint64_t, std::optional<CallAlgorithm>>;

FileCallKey KeyOf(const TrafficFileCall& call) {
  return {call.function, call.count, call.bytes, call.algorithm};
}

std::string FileCallText(const FileCallKey& key) {
  const auto& [function, count, bytes, algorithm] = key;
  return fmt::format(
      "{} of {} elements in {} bytes{}", function, count, bytes,
      algorithm ? fmt::format(" by {} and {}", algorithm->name, algorithm->protocol) : "");
}

/// Formats ranks: "0, 4-7".
std::string RanksText(const std::vector<std::uint32_t>& ranks) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (ranges.size() == kRankRangesShown) {
      ranges.emplace_back("...");
      break;
    }
    ranges.push_back(last == i ? std::to_string(ranks[i])
                               : fmt::format("{}-{}", ranks[i], ranks[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(ranges, ", "));
}

class TrafficMerger {
 public:
  Status Add(const std::string& path, const TrafficFile& file) {
    RINGLET_TRY(Join(path, file));
    hosts_[file.host_identity] = {.name = file.host, .has_ranks = true};
    for (const TrafficFileLink& link : file.links) RINGLET_TRY(AddLink(path, file, link));
    return Ok();
  }

  TrafficReport Finish() {
    NumberHosts();
    for (const auto& [name, communicator] : communicators_) FinishCommunicator(name, communicator);
    for (auto& [key, link] : links_) {
      link.host = numbers_.at(std::get<0>(key));
      report_.links.push_back(std::move(link));
    }
    std::ranges::stable_sort(report_.links, std::greater<>(), &LinkTraffic::time_us);
    for (auto& [key, call] : calls_) report_.calls.push_back(std::move(call));
    return std::move(report_);
  }

 private:
  using LinkKey = std::tuple<std::string, std::string, std::string>;  // host, from, to
  using CallsOfRank = std::map<FileCallKey, std::uint64_t>;

  struct MergedRank {
    std::string host, gpu;
    std::uint64_t sent_bytes = 0;
    CallsOfRank calls;
  };
  struct Merged {
    std::uint32_t ranks = 0;
    std::map<std::uint32_t, MergedRank> by_rank;
    CallsOfRank slower;  // calls of the rank with the most
  };

  static Error Contradiction(const std::string& path, const std::string& why) {
    return {Code::kInvalidArgument, fmt::format("{}: {}; name a folder with the files of one run",
                                                Printable(path, kTrafficPathShown), why)};
  }

  Status Join(const std::string& path, const TrafficFile& file) {
    Merged& merged = communicators_[file.communicator];
    if (merged.ranks == 0) merged.ranks = file.ranks;
    if (merged.ranks != file.ranks)
      return Contradiction(
          path, fmt::format("its communicator has {} ranks, but {} in another file", file.ranks,
                            merged.ranks));
    MergedRank rank{.host = file.host_identity, .gpu = file.gpu, .calls = {}};
    for (const TrafficFileCall& call : file.calls) {
      AddBytes(rank.calls[KeyOf(call)], call.calls);
      std::uint64_t& slower = merged.slower[KeyOf(call)];
      slower = std::max(slower, call.slower_calls);
    }
    for (const TrafficFileLink& link : file.links)
      if (link.host == file.host_identity && link.from == file.gpu)
        AddBytes(rank.sent_bytes, link.measured_bytes);
    if (!merged.by_rank.emplace(file.rank, std::move(rank)).second)
      return Contradiction(path, fmt::format("rank {} has another file", file.rank));
    return Ok();
  }

  Status AddLink(const std::string& path, const TrafficFile& file, const TrafficFileLink& link) {
    hosts_.try_emplace(link.host);
    const auto [it, fresh] = links_.try_emplace({link.host, link.from, link.to});
    LinkTraffic& merged = it->second;
    if (fresh)
      merged = {.from = link.from,
                .to = link.to,
                .kind = link.kind,
                .mb_per_s = link.mb_per_s,
                .nominal_mb_per_s = link.nominal_mb_per_s};
    if (merged.kind != link.kind || merged.mb_per_s != link.mb_per_s)
      return Contradiction(
          path, fmt::format("{} to {} is {} of {} MB/s, but {} of {} in another file", link.from,
                            link.to, link.kind, link.mb_per_s, merged.kind, merged.mb_per_s));
    AddBytes(merged.measured_bytes, link.measured_bytes);
    AddBytes(merged.planned_bytes, link.planned_bytes);
    // Compares each rank by itself, because the errors of two ranks may cancel out.
    if (link.measured_bytes != link.planned_bytes)
      unplanned_.push_back(
          {link.host,
           fmt::format("{} to {}: measured {} bytes, planned {} (communicator {}, rank {})",
                       link.from, link.to, link.measured_bytes, link.planned_bytes,
                       file.communicator, file.rank)});
    return Ok();
  }

  void Find(std::string finding) {
    if (report_.findings.size() < kTrafficFindingsMax)
      report_.findings.push_back(Printable(finding, 4 * kTrafficPathShown));
    else
      ++report_.findings_left_out;
  }

  // Numbers the hosts with ranks first.
  void NumberHosts() {
    for (const bool named : {true, false}) {
      const auto begin = static_cast<std::ptrdiff_t>(report_.hosts.size());
      for (const auto& [identity, host] : hosts_)
        if (host.has_ranks == named) report_.hosts.push_back({host.name, identity});
      std::ranges::stable_sort(report_.hosts.begin() + begin, report_.hosts.end(),
                               IsNaturallyBefore, &TrafficHost::name);
    }
    for (std::uint32_t host = 0; host < report_.hosts.size(); ++host)
      numbers_[report_.hosts[host].identity] = host;
    for (const Unplanned& one : unplanned_)
      Find(fmt::format("host {}, {}", numbers_.at(one.host), one.text));
  }

  void FinishCommunicator(const std::string& name, const Merged& merged) {
    CommunicatorTraffic& communicator = report_.communicators.emplace_back();
    communicator.communicator = name;
    communicator.ranks = merged.ranks;
    for (const auto& [rank, its] : merged.by_rank)
      communicator.by_rank.push_back({rank, numbers_.at(its.host), its.gpu, its.sent_bytes});
    for (std::uint32_t rank = 0; rank < merged.ranks; ++rank)
      if (!merged.by_rank.contains(rank)) communicator.missing.push_back(rank);
    if (!communicator.missing.empty())
      Find(fmt::format(
          "communicator {}: the files of {} of {} ranks are missing, as after a kill: {}", name,
          communicator.missing.size(), merged.ranks, RanksText(communicator.missing)));
    CompareCalls(name, merged);
    AddCalls(merged);
  }

  /// Checks that all ranks call the same collectives.
  void CompareCalls(const std::string& name, const Merged& merged) {
    const auto& [first, its] = *merged.by_rank.begin();
    for (const auto& [rank, other] : merged.by_rank) {
      std::set<FileCallKey> keys;
      for (const auto* calls : {&its.calls, &other.calls})
        for (const auto& [key, count] : *calls)
          if (!IsOfOneRank(std::get<0>(key))) keys.insert(key);
      for (const FileCallKey& key : keys) {
        const std::uint64_t a = CountOf(its.calls, key), b = CountOf(other.calls, key);
        if (a != b)
          Find(
              fmt::format("communicator {}: {} was called {} times by rank {}, {} times by rank {}",
                          name, FileCallText(key), a, first, b, rank));
      }
    }
  }

  static std::uint64_t CountOf(const CallsOfRank& calls, const FileCallKey& key) {
    const auto it = calls.find(key);
    return it == calls.end() ? 0 : it->second;
  }

  /// Adds collectives as counted by the lowest rank, and messages of all ranks.
  void AddCalls(const Merged& merged) {
    for (const auto& [rank, its] : merged.by_rank)
      for (const auto& [key, count] : its.calls) {
        const auto& [function, elements, bytes, algorithm] = key;
        if (!IsOfOneRank(function) && rank != merged.by_rank.begin()->first) continue;
        CallTraffic& call = calls_[{function, merged.ranks, bytes, elements, algorithm}];
        call = {.function = function,
                .ranks = merged.ranks,
                .count = elements,
                .bytes = bytes,
                .algorithm = algorithm,
                .calls = call.calls,
                .slower_calls = call.slower_calls};
        AddBytes(call.calls, count);
        if (rank == merged.by_rank.begin()->first)
          AddBytes(call.slower_calls, CountOf(merged.slower, key));
      }
  }

  struct MergedHost {
    std::string name;
    bool has_ranks = false;
  };
  struct Unplanned {
    std::string host;
    std::string text;
  };

  std::map<std::string, MergedHost> hosts_;  // by identity
  std::map<std::string, std::uint32_t> numbers_;
  std::map<LinkKey, LinkTraffic> links_;
  std::vector<Unplanned> unplanned_;
  std::map<std::string, Merged> communicators_;
  using CallKey = std::tuple<std::string, std::uint32_t, std::uint64_t, std::uint64_t,
                             std::optional<CallAlgorithm>>;
  std::map<CallKey, CallTraffic> calls_;
  TrafficReport report_;
};

}  // namespace

void AddBytes(std::uint64_t& total, std::uint64_t more) {
  total = more > std::numeric_limits<std::uint64_t>::max() - total
              ? std::numeric_limits<std::uint64_t>::max()
              : total + more;
}

std::uint64_t CallTraffic::size() const {
  const CallKind kind = *collective::CallKindNamed(function);
  return kind == CallKind::kAllToAllV ? bytes : SizeElements(BenchOperationOf(kind), bytes, ranks);
}

double CallTraffic::BandwidthOf(std::uint64_t ns) const {
  return ns == 0 ? 0 : static_cast<double>(size()) / static_cast<double>(ns);
}

double CallTraffic::bus_factor() const {
  const CallKind kind = *collective::CallKindNamed(function);
  return kind == CallKind::kAllToAllV ? 1 : BusFactor(kind, ranks);
}

double TrafficReport::Load(const LinkTraffic& link) const {
  return busiest_us() == 0 ? 0 : link.time_us() / busiest_us();
}

Result<TrafficReport> MergeTraffic(const std::vector<std::pair<std::string, TrafficFile>>& files) {
  TrafficMerger merger;
  for (const auto& [path, file] : files) RINGLET_TRY(merger.Add(path, file));
  return merger.Finish();
}

Result<TrafficReport> ReadTraffic(const std::string& folder) {
  std::error_code wrong;
  if (std::filesystem::is_regular_file(folder, wrong))
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is a file: give the folder of RINGLET_TRAFFIC_DIR, to which ranks "
                             "write. A report of ringlet emulate --report is complete: it has the "
                             "form of ringlet traffic --json",
                             Printable(folder, kTrafficPathShown))};
  const std::string absolute = std::filesystem::absolute(folder, wrong).string();
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open(wrong ? folder : absolute));
  RINGLET_TRY_ASSIGN(const std::vector<std::string> names, files.List("", kTrafficFilesMax));
  if (names.empty())
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is empty: ranks write their files when their communicators are "
                             "destroyed, and only on an emulated machine",
                             Printable(folder, kTrafficPathShown))};
  TrafficMerger merger;
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    RINGLET_TRY_ASSIGN(const std::string text, files.Read(name, kTrafficFileBytesMax));
    RINGLET_TRY_ASSIGN(const TrafficFile file, ParseTrafficFile(path, text));
    RINGLET_TRY(merger.Add(path, file));
  }
  return merger.Finish();
}

}  // namespace ringlet::cli
