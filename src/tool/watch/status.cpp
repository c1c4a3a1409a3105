#include "tool/watch/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/value/text.hpp"
#include "os/fs/write_file.hpp"
#include "os/net/local_ask.hpp"
#include "os/net/poll.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/terminal.hpp"
#include "tool/text/value_types.hpp"
#include "tool/watch/processes.hpp"
#include "watch/rank_trace.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kStatus = "status";
constexpr std::chrono::milliseconds kAnswerTimeout(5000);
constexpr std::size_t kTracesBytesMax = std::size_t{1} << 30;

struct StatusRequest {
  std::optional<std::uint32_t> pid;
  std::vector<std::string> job;  ///< beginnings of names; empty: all
  std::string dump;
  std::uint32_t watch_seconds = 0;
  bool metrics = false;
  bool json = false;
};

Error NoProcess(const StatusRequest& request) {
  return {Code::kInvalidArgument,
          request.pid ? fmt::format("process {} does not report its status: it does not use "
                                    "Ringlet, belongs to another user, or RINGLET_STATUS is 0",
                                    *request.pid)
                      : "no process of this user and network namespace uses Ringlet"};
}

bool IsChosen(const StatusRequest& request, std::string_view communicator) {
  return request.job.empty() || std::ranges::any_of(request.job, [&](const std::string& name) {
           return watch::IsNamed(communicator, name);
         });
}

Result<std::vector<watch::JobStatus>> ChosenJobs(const StatusRequest& request,
                                                 const StatusAnswers& answers) {
  std::vector<watch::JobStatus> jobs = watch::JobsOf(answers.processes);
  for (const std::string& name : request.job)
    if (std::ranges::none_of(jobs, [&](const watch::JobStatus& job) {
          return watch::IsNamed(job.communicator, name);
        }))
      return Error{Code::kInvalidArgument,
                   fmt::format("no communicator begins with {}", Quoted(Printable(name, 64)))};
  std::erase_if(jobs,
                [&](const watch::JobStatus& job) { return !IsChosen(request, job.communicator); });
  return jobs;
}

/// Shows the status once. Returns true if it has no findings.
Result<bool> ShowOnce(const StatusRequest& request) {
  // With a PID, the communicators of that process include ranks in other processes.
  RINGLET_TRY_ASSIGN(const auto processes, FindProcesses(request.pid));
  if (processes.empty()) return NoProcess(request);
  const StatusAnswers answers = QueryStatus(processes);
  if (answers.processes.empty() && answers.silent.empty()) return NoProcess(request);
  RINGLET_TRY_ASSIGN(const auto jobs, ChosenJobs(request, answers));
  bool well = answers.silent.empty();
  for (const watch::JobStatus& job : jobs) well = well && job.findings.empty();
  for (const std::string& silent : answers.silent) PrintNote(kStatus, silent);
  if (request.json) {
    fmt::print("{}", ToJson(jobs));
  } else {
    std::string text = ToText(jobs);
    if (jobs.empty())
      text =
          Counted(answers.processes.size(), "process", "processes") + " without a communicator\n";
    PrintFitted(text);
  }
  return well;
}

Result<int> Show(const StatusRequest& request) {
  while (true) {
    RINGLET_TRY_ASSIGN(const bool well, ShowOnce(request));
    if (request.watch_seconds == 0) return well ? kExitDone : kExitFailed;
    std::fflush(stdout);
    os::PollReadable({}, std::chrono::seconds(request.watch_seconds));
    if (!request.json) fmt::print("\n");
  }
}

/// Returns the answers of all processes. Prints the errors of those that do not answer.
Result<std::vector<std::string>> QueryEach(const StatusRequest& request, const char* question) {
  RINGLET_TRY_ASSIGN(const auto processes, FindProcesses(request.pid));
  if (processes.empty()) return NoProcess(request);
  std::vector<Address> sockets;
  for (const WatchedProcess& process : processes) sockets.push_back(process.socket);
  std::vector<std::string> texts;
  for (const auto& answer : os::QueryProcesses(
           sockets,
           {.text = question, .answer_bytes_max = kTracesBytesMax, .timeout = kAnswerTimeout})) {
    if (answer.ok())
      texts.push_back(*answer);
    else if (answer.error().code != Code::kPeerLost)
      PrintNote(kStatus, answer.error().message);
  }
  return texts;
}

Result<int> ShowMetrics(const StatusRequest& request) {
  RINGLET_TRY_ASSIGN(const auto texts, QueryEach(request, "metrics"));
  if (texts.size() > 1)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} have metrics, but a page shows one process: name its PID",
                             Counted(texts.size(), "process", "processes"))};
  for (const std::string& text : texts) fmt::print("{}", text);
  return texts.empty() ? kExitFailed : kExitDone;
}

/// Splits an answer into traces. A line before each trace has its length.
Result<std::vector<std::string_view>> SplitTraces(std::string_view text) {
  std::vector<std::string_view> traces;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const auto bytes = ParseDecimal(text.substr(0, end));
    if (end == std::string_view::npos || !bytes || *bytes > text.size() - end - 1)
      return Error{Code::kProtocol, "an answer without traces"};
    traces.push_back(text.substr(end + 1, *bytes));
    text.remove_prefix(end + 1 + *bytes);
  }
  return traces;
}

Result<int> Dump(const StatusRequest& request) {
  RINGLET_TRY_ASSIGN(const auto texts, QueryEach(request, "trace"));
  std::error_code error;
  std::filesystem::create_directories(request.dump, error);
  std::size_t written = 0;
  for (const std::string& text : texts) {
    RINGLET_TRY_ASSIGN(const auto traces, SplitTraces(text));
    for (const std::string_view one : traces) {
      RINGLET_TRY_ASSIGN(const watch::RankTrace trace, watch::ParseRankTrace(one));
      if (!IsChosen(request, trace.communicator)) continue;
      RINGLET_TRY(os::WriteFile(request.dump + "/" + FileNameOf(trace), one));
      ++written;
    }
  }
  fmt::print("{} in {}\n", Counted(written, "trace"), request.dump);
  return written > 0 ? kExitDone : kExitFailed;
}

int Run(const StatusRequest& request) {
  const Result<int> status = request.metrics         ? ShowMetrics(request)
                             : !request.dump.empty() ? Dump(request)
                                                     : Show(request);
  return status.ok() ? *status : Fail(kStatus, status.error());
}

}  // namespace

void AddStatus(CLI::App& tool, Action& chosen) {
  CLI::App* status = tool.add_subcommand(
      "status",
      "Show the operations of ranks in running communicators, and any rank that delays others");
  status->footer(
      "Queries the processes of this user on this host, which know the ranks of other hosts. The "
      "exit\nstatus is 1 if a rank is stopped, missing, has failed, or calls another operation.");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<StatusRequest>();
  status->add_option("PID", request->pid, "Show only the communicators of this process")
      ->check(CLI::Range(1u, 0xffff'ffffu));
  status
      ->add_option("--job", request->job,
                   "Show only communicators with these prefixes of names, separated by commas; the "
                   "log shows the name after commId")
      ->type_name("TEXT")
      ->delimiter(',')
      ->expected(1, 1);
  CLI::Option* json = status->add_flag(
      "--json", request->json, "A list of objects: communicator, job, ranks, states, findings");
  CLI::Option* watch =
      status->add_option("--watch", request->watch_seconds, "Repeat every N seconds")
          ->check(CLI::Range(1u, 86'400u));
  CLI::Option* dump =
      status
          ->add_option("--dump", request->dump,
                       "Write the last operations of each rank into a folder, for ringlet trace")
          ->type_name(kFolderType);
  status
      ->add_flag("--metrics", request->metrics,
                 "Print the counters of one process as OpenMetrics text, for Prometheus")
      ->excludes(json)
      ->excludes(watch)
      ->excludes(dump);
  dump->excludes(json)->excludes(watch);
  status->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
