#include "watch/ras/ras_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/value/json_object.hpp"

namespace ringlet::watch {
namespace {

using Reach = RankState::Reach;

// Maximum number of ranks in a list, unless the client requests all.
constexpr std::size_t kNamedMax = 10;
// Limits the rows of a report, because a communicator may claim any number of ranks.
constexpr std::uint32_t kRanksMax = 1 << 16;
// ncclInProgress of nccl.h: a communicator that is still forming.
constexpr int kInProgress = 7;

/// A collective's names here and in NCCL's reports. NCCL's own are first, in NCCL's order.
struct Collective {
  std::string_view call, reported;
};
constexpr std::array kCollectives = {
    Collective{"broadcast", "Broadcast"},    Collective{"reduce", "Reduce"},
    Collective{"all_gather", "AllGather"},   Collective{"reduce_scatter", "ReduceScatter"},
    Collective{"all_reduce", "AllReduce"},   Collective{"all_to_all", "AlltoAll"},
    Collective{"all_to_all_v", "AlltoAllv"}, Collective{"gather", "Gather"},
    Collective{"scatter", "Scatter"},        Collective{"barrier", "Barrier"},
};

double InMs(Instant time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::uint64_t CountOf(const RankState& rank, std::string_view call) {
  const auto tally = std::ranges::find(rank.calls, call, &CallTally::call);
  return tally == rank.calls.end() ? 0 : tally->count;
}

/// A rank in a report.
struct RankRow {
  RankState state;
  std::uint32_t device = 0;  ///< its index among the ranks of its host

  bool answers() const { return state.reach == Reach::kHere; }
  bool left() const { return state.reach == Reach::kLeft; }
};

std::string RankText(const RankRow& row) {
  if (row.state.pid == 0) return fmt::format("Rank {}", row.state.rank);
  return fmt::format("Rank {} -- GPU {} managed by process {} on node {}", row.state.rank,
                     row.device, row.state.pid, row.state.host);
}

std::string_view StatusOf(const RankState& rank) {
  if (rank.reach == Reach::kLeft) return "NOCOMM";
  return rank.forming ? "INIT" : "RUNNING";
}

/// A communicator with a row for each rank.
struct ReportedCommunicator {
  std::string name;
  std::uint32_t size = 0;
  std::vector<std::string> findings;
  std::vector<RankRow> rows = {};
  std::map<std::string, std::uint32_t> hosts = {};  ///< number of ranks per host
  std::size_t silent = 0;
  bool failed = false;
  std::set<std::string_view> statuses = {};

  std::string Errors() const {
    std::string text;
    for (const auto& [is_so, word] : {std::pair(silent > 0, "INCOMPLETE"),
                                      std::pair(failed, "ERROR"), std::pair(mismatch, "MISMATCH")})
      if (is_so) text += (text.empty() ? "" : ",") + std::string(word);
    return text.empty() ? "OK" : text;
  }
  std::string_view Status() const {
    for (const std::string_view status : {"RUNNING", "INIT"})
      if (statuses.contains(status)) return status;
    return "NOCOMM";
  }
  bool mismatch = false;
};

bool CountsDiffer(const std::vector<RankRow>& rows, std::string_view call) {
  std::set<std::uint64_t> counts;
  for (const RankRow& row : rows)
    if (row.answers()) counts.insert(CountOf(row.state, call));
  return counts.size() > 1;
}

ReportedCommunicator Read(const JobStatus& job) {
  ReportedCommunicator read{.name = job.communicator, .size = job.ranks, .findings = job.findings};
  auto known = job.states.begin();
  for (std::uint32_t rank = 0; rank < std::min(job.ranks, kRanksMax); ++rank) {
    RankRow row{.state = {.rank = rank, .reach = Reach::kUnknown}};
    if (known != job.states.end() && known->rank == rank) row.state = *known++;
    if (!row.state.host.empty()) row.device = read.hosts[row.state.host]++;
    if (row.answers() || row.left()) read.statuses.insert(StatusOf(row.state));
    if (!row.answers() && !row.left()) ++read.silent;
    read.failed = read.failed || row.state.result != 0;
    read.rows.push_back(std::move(row));
  }
  read.mismatch = read.statuses.size() > 1;
  for (const Collective& collective : kCollectives)
    read.mismatch = read.mismatch || CountsDiffer(read.rows, collective.call);
  return read;
}

/// Largest first.
std::vector<ReportedCommunicator> ReadAll(const std::vector<JobStatus>& jobs) {
  std::vector<ReportedCommunicator> all;
  for (const JobStatus& job : jobs) all.push_back(Read(job));
  std::ranges::stable_sort(all, std::greater(), &ReportedCommunicator::size);
  return all;
}

std::vector<RasPeer> PeersOf(const std::vector<ReportedCommunicator>& communicators) {
  std::map<std::pair<std::string, std::uint32_t>, RasPeer> peers;
  for (const ReportedCommunicator& one : communicators) {
    std::set<std::pair<std::string, std::uint32_t>> of_larger;
    for (const auto& [key, peer] : peers) of_larger.insert(key);
    for (const RankRow& row : one.rows) {
      if (row.state.pid == 0) continue;
      const std::pair key(row.state.host, row.state.pid);
      RasPeer& peer = peers[key];
      peer.host = row.state.host;
      peer.pid = row.state.pid;
      peer.reach = std::max(peer.reach, row.left() ? Reach::kHere : row.state.reach);
      if (!of_larger.contains(key)) peer.devices.push_back(row.device);
    }
  }
  std::vector<RasPeer> list;
  for (auto& [key, peer] : peers) list.push_back(std::move(peer));
  return list;
}

// ---- Text ---------------------------------------------------------------------------------------

template <class Number>
std::string RangeText(const std::set<Number>& numbers) {
  if (numbers.empty()) return "0";
  if (numbers.size() == 1) return fmt::format("{}", *numbers.begin());
  return fmt::format("{}-{}", *numbers.begin(), *numbers.rbegin());
}

std::string SummaryText(const std::vector<RasPeer>& peers) {
  std::map<std::string, std::size_t> hosts;
  std::set<std::size_t> devices_of_process;
  std::size_t devices = 0;
  for (const RasPeer& peer : peers) {
    ++hosts[peer.host];
    devices_of_process.insert(peer.devices.size());
    devices += peer.devices.size();
  }
  std::set<std::size_t> processes_of_host;
  for (const auto& [host, processes] : hosts) processes_of_host.insert(processes);
  return fmt::format(
      "Job summary\n===========\n\n"
      "{:>7}  {:>9}  {:>11}  {:>9}  {:>7}\n{:>7}  {:>9}  {:>11}  {:>9}  {:>7}\n"
      "{:>7}  {:>9}  {:>11}  {:>9}  {:>7}\n",
      "Nodes", "Processes", "GPUs", "Processes", "GPUs", "(total)", "per node", "per process",
      "(total)", "(total)", hosts.size(), RangeText(processes_of_host),
      RangeText(devices_of_process), peers.size(), devices);
}

/// Communicators with the same key share a line of the table.
struct TableLine {
  std::vector<const ReportedCommunicator*> members;
};
std::vector<TableLine> TableLinesOf(const std::vector<ReportedCommunicator>& communicators) {
  const auto key = [](const ReportedCommunicator& one) {
    return std::tuple(one.size, one.hosts.size(), one.Status(), one.Errors());
  };
  std::vector<TableLine> groups;
  for (const ReportedCommunicator& one : communicators) {
    const auto same = std::ranges::find_if(
        groups, [&](const TableLine& group) { return key(*group.members[0]) == key(one); });
    if (same == groups.end())
      groups.push_back({{&one}});
    else
      same->members.push_back(&one);
  }
  return groups;
}

std::string TableText(const std::vector<TableLine>& groups) {
  if (groups.empty()) return "No communicator data collected!\n";
  constexpr std::string_view kRow = "{:>5}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>6}\n";
  std::string text = fmt::format(fmt::runtime(kRow), "Group", "Comms", "Nodes", "Ranks", "Ranks",
                                 "Ranks", "Status", "Errors");
  text += fmt::format("{:>5}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}\n", "#", "in group", "per comm",
                      "per node", "per comm", "in group");
  for (std::size_t index = 0; index < groups.size(); ++index) {
    const ReportedCommunicator& first = *groups[index].members[0];
    std::set<std::uint32_t> per_host;
    std::set<std::tuple<std::string, std::uint32_t, std::uint32_t>> ranks;
    for (const ReportedCommunicator* one : groups[index].members) {
      for (const auto& [host, count] : one->hosts) per_host.insert(count);
      for (const RankRow& row : one->rows)
        if (row.answers()) ranks.emplace(row.state.host, row.state.pid, row.device);
    }
    text +=
        fmt::format(fmt::runtime(kRow), index, groups[index].members.size(), first.hosts.size(),
                    RangeText(per_host), first.size, ranks.size(), first.Status(), first.Errors());
  }
  return text;
}

/// Returns the text of each communicator after its number in the table: "#0-1 (name) ".
std::string ForEach(
    const std::vector<TableLine>& groups,
    const std::function<std::string(const ReportedCommunicator&, const std::string&)>& say) {
  std::string text;
  for (std::size_t index = 0; index < groups.size(); ++index)
    for (std::size_t member = 0; member < groups[index].members.size(); ++member) {
      const ReportedCommunicator& one = *groups[index].members[member];
      text += say(one, fmt::format("#{}-{} ({}) ", index, member, one.name));
    }
  return text;
}

std::string Plural(std::size_t count, std::string_view one, std::string_view more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string NamesText(const std::vector<const RankRow*>& rows, bool all) {
  std::string text;
  if (all || rows.size() <= kNamedMax)
    for (const RankRow* row : rows) text += "  " + RankText(*row) + "\n";
  return text;
}

std::string PeersText(const std::vector<RasPeer>& peers, const RasHeader& header) {
  std::string text;
  const auto list = [&](Reach from, Reach to, std::string_view head,
                        const std::function<std::string(std::size_t)>& sentence) {
    std::vector<const RasPeer*> such;
    for (const RasPeer& peer : peers)
      if (peer.reach >= from && peer.reach <= to) such.push_back(&peer);
    if (such.empty()) return;
    text += fmt::format("{}\n  {}\n", head, sentence(such.size()));
    if (header.verbose || such.size() <= kNamedMax)
      for (const RasPeer* peer : such) text += "  " + ToText(*peer) + "\n";
    text += "\n";
  };
  const auto missing = [](std::size_t count) {
    return "Missing communicator data from " + Plural(count, "job process", "job processes");
  };
  list(Reach::kSilent, Reach::kSilent, "INCOMPLETE", missing);
  list(Reach::kUnknown, Reach::kUnknown, "INCOMPLETE", missing);
  list(Reach::kGone, Reach::kGone, "DEAD", [](std::size_t count) {
    return Plural(count, "job process is", "job processes are") + " dead";
  });
  return text;
}

std::string IncompleteText(const ReportedCommunicator& one, const std::string& name, bool all) {
  if (one.silent == 0) return "";
  std::vector<const RankRow*> rows;
  for (const RankRow& row : one.rows)
    if (!row.answers() && !row.left()) rows.push_back(&row);
  return fmt::format("{}INCOMPLETE\n  Missing communicator data from {}\n{}\n", name,
                     Plural(rows.size(), "rank", "ranks"), NamesText(rows, all));
}

std::string ErrorText(const ReportedCommunicator& one, const std::string& name, bool all) {
  if (!one.failed) return "";
  std::map<std::string, std::vector<const RankRow*>> by_failure;
  for (const RankRow& row : one.rows)
    if (row.state.result != 0) by_failure[row.state.failure].push_back(&row);
  std::string text = name + "ERROR\n";
  for (const auto& [failure, rows] : by_failure)
    text += fmt::format("  {} reported: {}\n{}", Plural(rows.size(), "rank", "ranks"), failure,
                        NamesText(rows, all));
  return text + "\n";
}

/// Groups the ranks by the text from `of`, most frequent first. Lists all except the largest group.
std::string SplitText(const ReportedCommunicator& one, bool all,
                      const std::function<std::optional<std::string>(const RankRow&)>& of) {
  std::map<std::string, std::vector<const RankRow*>> by_text;
  for (const RankRow& row : one.rows)
    if (const auto text = of(row)) by_text[*text].push_back(&row);
  if (by_text.size() < 2) return "";
  std::vector<std::pair<std::string, std::vector<const RankRow*>>> groups(by_text.begin(),
                                                                          by_text.end());
  std::ranges::stable_sort(groups, std::greater(),
                           [](const auto& group) { return group.second.size(); });
  std::string text;
  for (const auto& [what, rows] : groups) {
    const bool largest = &rows == &groups[0].second && rows.size() > groups[1].second.size();
    text += fmt::format("  {} {}\n", Plural(rows.size(), "rank has", "ranks have"), what);
    if (!largest) text += NamesText(rows, all);
  }
  return text;
}

std::string MismatchText(const ReportedCommunicator& one, const std::string& name, bool all) {
  if (!one.mismatch) return "";
  std::string text = name + "MISMATCH\n";
  const std::string statuses = SplitText(one, all, [](const RankRow& row) {
    return row.answers() || row.left() ? std::optional("status " + std::string(StatusOf(row.state)))
                                       : std::nullopt;
  });
  if (!statuses.empty()) text += "  Communicator ranks have different status\n" + statuses;
  for (const Collective& collective : kCollectives) {
    const std::string counts =
        SplitText(one, all, [&](const RankRow& row) -> std::optional<std::string> {
          if (!row.answers()) return std::nullopt;
          const std::uint64_t count = CountOf(row.state, collective.call);
          if (count == 0) return "not launched any operations";
          return fmt::format("launched up to operation {}", count);
        });
    if (!counts.empty())
      text += fmt::format("  Communicator ranks have different {} operation counts\n{}",
                          collective.reported, counts);
  }
  return text + "\n";
}

std::string FindingsText(const ReportedCommunicator& one, const std::string& name) {
  std::string text;
  for (const std::string& finding : one.findings) text += "  " + finding + "\n";
  return text.empty() ? "" : fmt::format("{}FINDINGS\n{}\n", name, text);
}

// ---- JSON ---------------------------------------------------------------------------------------

Json RankJson(const RankRow& row) {
  const bool known = row.state.pid != 0;
  return {{"rank", row.state.rank},
          {"host", known ? row.state.host : "unknown"},
          {"pid", known ? Json(row.state.pid) : Json(-1)},
          {"cuda_dev", row.device},
          {"nvml_dev", row.device}};
}

Json AnsweringJson(const RankRow& row) {
  Json json = RankJson(row);
  json["status"] = {{"init_state", row.state.forming ? kInProgress : 0},
                    {"async_error", row.state.result},
                    {"finalize_called", false},
                    {"destroy_flag", false},
                    {"abort_flag", false}};
  for (const Collective& collective : kCollectives)
    json["collective_counts"][std::string(collective.reported)] =
        CountOf(row.state, collective.call);
  return json;
}

Json MissingJson(const RankRow& row) {
  Json json = RankJson(row);
  json["status"] = {{"unresponsive", !row.left()},
                    {"considered_dead", row.state.reach == Reach::kGone}};
  return json;
}

Json CommunicatorJson(const ReportedCommunicator& one) {
  Json ranks = Json::array(), missing = Json::array();
  for (const RankRow& row : one.rows)
    row.answers() ? ranks.push_back(AnsweringJson(row)) : missing.push_back(MissingJson(row));
  return {{"hash", "0x" + one.name},
          {"secondary_hash", "0x0:0x0"},
          {"size", one.size},
          {"ranks_count", ranks.size()},
          {"missing_ranks_count", missing.size()},
          {"ranks", std::move(ranks)},
          {"missing_ranks", std::move(missing)},
          {"findings", one.findings}};
}

std::size_t SilentIn(const std::vector<RasPeer>& peers) {
  return static_cast<std::size_t>(std::ranges::count(peers, Reach::kSilent, &RasPeer::reach));
}

}  // namespace

std::string RasText(const std::vector<JobStatus>& jobs, const RasHeader& header) {
  const std::vector<ReportedCommunicator> communicators = ReadAll(jobs);
  const std::vector<RasPeer> peers = PeersOf(communicators);
  const std::vector<TableLine> groups = TableLinesOf(communicators);
  const bool all = header.verbose;
  std::string text = fmt::format("NCCL version {} (Ringlet)\n\n", header.nccl_version);
  text += SummaryText(peers);
  text += fmt::format("\nCommunicators... ({:.2f}s)\n=============\n\n{}", InMs(header.took) / 1000,
                      TableText(groups));
  text += "\nErrors\n======\n\n" + PeersText(peers, header);
  text += ForEach(groups, [&](const ReportedCommunicator& one, const std::string& name) {
    return IncompleteText(one, name, all) + ErrorText(one, name, all);
  });
  text += "Warnings\n========\n\n";
  if (const std::size_t silent = SilentIn(peers); silent > 0)
    text += fmt::format("TIMEOUT\n  Encountered {} while gathering communicator data\n\n",
                        Plural(silent, "communication timeout", "communication timeouts"));
  text += ForEach(groups, [&](const ReportedCommunicator& one, const std::string& name) {
    return MismatchText(one, name, all);
  });
  const std::string findings = ForEach(groups, FindingsText);
  return findings.empty() ? text : text + "Findings\n========\n\n" + findings;
}

std::string RasJson(const std::vector<JobStatus>& jobs, const RasHeader& header) {
  const std::vector<ReportedCommunicator> communicators = ReadAll(jobs);
  Json list = Json::array();
  for (const ReportedCommunicator& one : communicators) list.push_back(CommunicatorJson(one));
  const Json json = {{"nccl_version", header.nccl_version},
                     {"cuda_runtime_version", 0},
                     {"cuda_driver_version", 0},
                     {"timestamp", header.timestamp},
                     {"communicators_count", list.size()},
                     {"communicators", std::move(list)},
                     {"ras",
                      {{"collection_time_sec", std::round(InMs(header.took)) / 1000},
                       {"timeouts_count", SilentIn(PeersOf(communicators))}}}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<RasPeer> RasPeersOf(const std::vector<JobStatus>& jobs) {
  return PeersOf(ReadAll(jobs));
}

std::string ToText(const RasPeer& peer) {
  std::string devices;
  for (const std::uint32_t device : peer.devices)
    devices += fmt::format("{}{}", devices.empty() ? "" : ",", device);
  return fmt::format("Process {} on node {} managing GPU{} {}", peer.pid, peer.host,
                     peer.devices.size() > 1 ? "s" : "", devices);
}

}  // namespace ringlet::watch
