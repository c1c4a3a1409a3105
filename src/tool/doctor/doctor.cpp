#include "tool/doctor/doctor.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>
#include <optional>

#include <algorithm>
#include <memory>

#include "doctor/judge.hpp"
#include "os/clock.hpp"
#include "os/process/env.hpp"
#include "os/process/limits.hpp"
#include "tool/doctor/agent.hpp"
#include "tool/doctor/agent_launch.hpp"
#include "tool/doctor/doctor_report.hpp"
#include "tool/doctor/examination.hpp"
#include "tool/doctor/host_list.hpp"
#include "tool/doctor/rank_place.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kDoctor = "doctor";
constexpr std::size_t kHostFileMax = std::size_t{1} << 20;
constexpr std::uint32_t kDoctorTimeoutS = 20, kDoctorTimeoutMaxS = 600;

struct DoctorRequest {
  std::optional<std::string> hosts = {}, hostfile = {};
  std::string ssh = "ssh", tool, fail_on = "warning";
  std::uint32_t timeout_s = kDoctorTimeoutS;
  bool json = false, prometheus = false, all = false, agent = false, quick = false;
};

Result<std::vector<std::string>> HostsOf(const DoctorRequest& request) {
  // An empty list is a mistake, for example an unset variable. It does not mean this host.
  if (request.hosts) return ParseHostList(*request.hosts);
  if (!request.hostfile) return std::vector<std::string>();
  if (request.hostfile->empty())
    return Error{Code::kInvalidArgument, "--hostfile does not name a file"};
  RINGLET_TRY_ASSIGN(const std::string text, ReadUserFile(*request.hostfile, kHostFileMax));
  return ParseHostFile(text);
}

/// Starts an agent on each host, or on this host if `hosts` is empty.
Result<std::vector<AgentLine>> StartAgents(const DoctorRequest& request,
                                           const std::vector<std::string>& hosts,
                                           const EnvMap& environment) {
  std::vector<AgentLine> lines;
  const RemoteOptions remote{.ssh = request.ssh,
                             .tool = request.tool.empty() ? OwnPath() : request.tool,
                             .connect_timeout_s = request.timeout_s};
  for (const std::string& host : hosts) {
    os::Command command = LocalAgent(environment);
    if (host != "localhost") {
      RINGLET_TRY_ASSIGN(command, RemoteAgent(host, remote, environment));
    }
    RINGLET_TRY_ASSIGN(AgentLine line, AgentLine::Start(host, std::move(command)));
    lines.push_back(std::move(line));
  }
  if (!hosts.empty()) return lines;
  RINGLET_TRY_ASSIGN(AgentLine line, AgentLine::Start("", LocalAgent(environment)));
  lines.push_back(std::move(line));
  return lines;
}

doctor::FindingVerdict FailOn(const DoctorRequest& request) {
  if (request.fail_on == "error") return doctor::FindingVerdict::kError;
  return request.fail_on == "note" ? doctor::FindingVerdict::kNote
                                   : doctor::FindingVerdict::kWarning;
}

Result<int> ReportFindings(const DoctorRequest& request, std::vector<AgentLine> lines,
                           const std::vector<std::uint32_t>& missing) {
  const std::chrono::seconds timeout(request.timeout_s);
  RINGLET_TRY_ASSIGN(doctor::SetFacts facts,
                     Examine(std::move(lines), {.timeout = timeout, .measure = !request.quick}));
  for (const std::uint32_t rank : missing)
    facts.silent.push_back(
        {.host = fmt::format("rank {}", rank),
         .why = fmt::format("it did not connect within {} s", request.timeout_s)});
  const std::vector<doctor::CheckReport> checks = doctor::Judge(facts);
  if (request.json)
    fmt::print("{}", DoctorJson(checks, facts));
  else if (request.prometheus)
    fmt::print("{}", DoctorMetrics(checks, facts));
  else
    fmt::print("{}", DoctorText(checks, facts, request.all));
  return doctor::WorstOf(checks) >= FailOn(request) ? kExitFailed : kExitDone;
}

Result<int> AsRank(const DoctorRequest& request, const JobRank& place, const EnvMap& environment) {
  const Instant until = os::Now() + std::chrono::seconds(request.timeout_s);
  if (place.rank != 0) {
    RINGLET_TRY_ASSIGN(const os::Fd line, CallRankZero(place, until));
    RINGLET_TRY(ServeDoctor(line.get(), line.get(), environment));
    return kExitDone;
  }
  RINGLET_TRY_ASSIGN(ConnectedRanks met, ConnectRanks(place, until));
  RINGLET_TRY_ASSIGN(AgentLine own, AgentLine::Start("rank 0", LocalAgent(environment)));
  std::vector<AgentLine> lines;
  lines.push_back(std::move(own));
  for (AgentLine& line : met.lines) lines.push_back(std::move(line));
  return ReportFindings(request, std::move(lines), met.missing);
}

Result<int> Doctor(const DoctorRequest& request) {
  const EnvMap environment = os::ReadEnvironment();
  RINGLET_TRY_ASSIGN(const std::vector<std::string> hosts, HostsOf(request));
  if (hosts.empty()) {
    RINGLET_TRY_ASSIGN(const std::optional<JobRank> place, JobRankOf(environment));
    if (place) return AsRank(request, *place, environment);
  }
  RINGLET_TRY_ASSIGN(std::vector<AgentLine> lines, StartAgents(request, hosts, environment));
  return ReportFindings(request, std::move(lines), {});
}

int Run(const DoctorRequest& request) {
  os::RaiseDescriptorLimit();  // each host needs three descriptors
  ::signal(SIGPIPE, SIG_IGN);  // a write to a closed agent returns an error
  if (request.agent)
    return ExitStatusOf(kDoctor, ServeDoctor(STDIN_FILENO, STDOUT_FILENO, os::ReadEnvironment()));
  const Result<int> status = Doctor(request);
  if (status.ok()) return *status;
  Fail(kDoctor, status.error());
  return kExitUsage;  // without a verdict, scripts must not take a host for faulty
}

void AddOptions(CLI::App& command, DoctorRequest& request) {
  CLI::Option* hosts =
      command
          .add_option("HOSTS,--hosts", request.hosts,
                      "Hosts to examine by ssh: a,b,node[01-16]; localhost does not need ssh. "
                      "Default: the hosts of the ranks that a launcher started, or this host")
          ->type_name("TEXT");
  command
      .add_option("--hostfile", request.hostfile,
                  "File with one host per line, as mpirun reads it; - is standard input")
      ->type_name(kFileType)
      ->excludes(hosts);
  command
      .add_option("--ssh", request.ssh,
                  "Program with options that runs a command on a host; host and command follow")
      ->type_name("TEXT")
      ->capture_default_str();
  command
      .add_option("--tool", request.tool,
                  "Path of ringlet on the hosts; default: the path on this host, else PATH")
      ->type_name(kFileType);
  command
      .add_option("--timeout", request.timeout_s,
                  "Seconds until a missing answer of a host is a finding")
      ->check(CLI::Range(1u, kDoctorTimeoutMaxS))
      ->capture_default_str();
  command.add_option("--fail-on", request.fail_on, "Lowest verdict that makes the exit status 1")
      ->check(CLI::IsMember({"note", "warning", "error"}))
      ->capture_default_str();
  command.add_flag("--quick", request.quick, "Connect to each host, but skip measurements");
  command.add_flag(
      "--all", request.all,
      "Show every finding, the interfaces of each host and the measurements of each pair");
}

}  // namespace

void AddDoctor(CLI::App& tool, Action& chosen) {
  CLI::App* command = tool.add_subcommand(
      "doctor", "Examine hosts before a job: network, limits, memory, clocks, versions, settings");
  command->footer(
      "As a rank of ringlet run, mpirun or srun, it examines the hosts of the job, and rank 0 "
      "reports.\nThe exit status is 0 if all is well, 1 with a finding, 2 without a verdict.");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<DoctorRequest>();
  AddOptions(*command, *request);
  CLI::Option* json = command->add_flag(
      "--json", request->json,
      "One object per line. For each finding: check, verdict, host, reason, cost, cure, evidence; "
      "then for each check without findings, each host and each pair");
  command->add_flag("--prometheus", request->prometheus, "Gauges in Prometheus's text format")
      ->excludes(json);
  command
      ->add_flag("--agent", request->agent,
                 "Serve another doctor on standard input and output; for internal use")
      ->group("");
  command->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
