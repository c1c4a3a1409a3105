#include "tool/bench/peer_program.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/process/limits.hpp"
#include "tool/bench/bench_enter.hpp"
#include "tool/operation/sweep.hpp"
#include "tool/peers/peer_build.hpp"

namespace ringlet::cli {
namespace {

// Binds the ranks of a peer as Ringlet's ranks are bound. Gloo's ranks are never bound, because its
// worker thread would share the core.
std::string BindingOption(std::string_view peer) {
  return peer == "openmpi" ? "--bind-to" : "-bind-to";
}
std::string BindingOf(const BenchOptions& options) {
  return options.measure.bound && options.ranks <= os::UsableCores() ? "core" : "none";
}

std::string IterationsOf(const BenchOptions& options) {
  if (options.measure.iterations) return std::to_string(*options.measure.iterations);
  const std::chrono::duration<double, std::micro> least =
      IterationMin(options.ranks > os::UsableCores());
  return fmt::format("adapted:{}", least.count());
}

std::vector<std::string> CallArguments(const BenchOptions& options) {
  const MeasureOptions& measure = options.measure;
  std::vector<std::string> arguments = {
      std::string(BenchOperationOf(measure.kind).name),
      std::string(Name(measure.type)),
      std::string(Name(measure.op)),
      std::to_string(Index(measure.root)),
      std::string(measure.placement == Placement::kInPlace ? "in" : "out") +
          (measure.changing ? ",changing" : ""),
      measure.warmup ? std::to_string(*measure.warmup) : "adapted",
      IterationsOf(options)};
  for (const std::size_t count : measure.counts) arguments.push_back(std::to_string(count));
  return arguments;
}

// Returns the command that starts Open MPI's mpirun on the first host. mpirun starts a daemon on
// each other host through a substitute for ssh.
os::Command OverHosts(const BenchJob& job, const std::string& launcher, os::Command program) {
  std::vector<std::string> spaces, slots;
  std::vector<std::uint32_t> ranks_of(job.options.net.hosts);
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank)
    ++ranks_of[HostOf(job.options, rank)];
  for (std::uint32_t host = 0; host < ranks_of.size(); ++host) {
    spaces.push_back(job.hosts->SpacePath(host));
    if (ranks_of[host] > 0)
      slots.push_back(fmt::format("{}:{}", testbed::NetHosts::AddressOf(host), ranks_of[host]));
  }
  std::vector<std::string> arguments = SshSubstituteCommand(spaces);
  program.environment["OMPI_MCA_plm_rsh_agent"] =      // Open MPI 4
      program.environment["PRTE_MCA_plm_ssh_agent"] =  // Open MPI 5
      fmt::format("{}", fmt::join(arguments, " "));
  program.environment["OMPI_MCA_btl"] = "tcp,vader,self";
  // The daemons cannot detect that all hosts share the same cores.
  if (job.options.ranks > os::UsableCores())
    program.environment["OMPI_MCA_mpi_yield_when_idle"] = "1";
  arguments.insert(arguments.end(), {testbed::NetHosts::AddressOf(0), launcher, "--bind-to", "none",
                                     "--host", fmt::format("{}", fmt::join(slots, ",")), "-n",
                                     std::to_string(job.options.ranks)});
  arguments.insert(arguments.end(), program.arguments.begin(), program.arguments.end());
  program.arguments = std::move(arguments);
  return program;
}

std::optional<double> Number(std::string_view text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(number >= 0))
    return std::nullopt;
  return number;
}

}  // namespace

std::vector<os::Command> PeerBenchCommands(const std::string& peer, const BenchJob& job,
                                           const std::string& folder) {
  const std::string ranks = std::to_string(job.options.ranks);
  const std::string program = PeerProgram(folder, "bench", peer);
  const auto command = [&](std::vector<std::string> arguments) {
    for (std::string& argument : CallArguments(job.options))
      arguments.push_back(std::move(argument));
    os::Command made{std::move(arguments), job.environment};
    AllowOpenMpi(made.environment);
    return made;
  };
  if (job.hosts && peer == "openmpi")
    return {OverHosts(job, PeerLauncher(folder, peer), command({program}))};
  if (peer != "gloo")
    return {command({PeerLauncher(folder, peer), BindingOption(peer), BindingOf(job.options), "-n",
                     ranks, program})};
  if (!job.hosts) return {command({program, ranks})};
  std::vector<os::Command> commands;
  const std::string wireup = fmt::format("/dev/shm/ringlet-gloo-{}", os::Now().count());
  for (std::uint32_t rank = 0; rank < job.options.ranks; ++rank) {
    const std::uint32_t host = HostOf(job.options, rank);
    commands.push_back(command(CommandInSpace(
        job.hosts->SpacePath(host),
        {program,
         fmt::format("{},{},{},{}", rank, ranks, testbed::NetHosts::AddressOf(host), wireup)})));
  }
  return commands;
}

Status CheckPeer(const std::string& peer, const std::string& folder, std::uint32_t hosts) {
  if (hosts > 1 && peer != "gloo" && peer != "openmpi")
    return Error{
        Code::kUnsupported,
        fmt::format("{} is not measured: the bench cannot start its ranks in namespaces", peer)};
  std::error_code ignored;
  const std::string program = PeerProgram(folder, "bench", peer);
  if (std::filesystem::exists(program, ignored)) return Ok();
  return Error{Code::kUnsupported,
               fmt::format("{} is not measured: {} was not built; to build it: {}", peer, program,
                           PeerBuildCommand(folder, "bench", peer))};
}

std::string ParsePeerVersion(std::string_view line) {
  constexpr std::string_view kWord = "version ";
  constexpr std::size_t kVersionBytesMax = 60;
  if (!line.starts_with(kWord)) return "";
  line = Trim(line.substr(kWord.size()));
  std::string version;
  for (const char letter : line.substr(0, line.find(','))) {
    const bool blank = letter == ' ' || letter == '\t';
    if (!blank || !version.ends_with(' ')) version += blank ? ' ' : letter;
  }
  constexpr std::string_view kSaidTwice = " Version:";
  if (const std::size_t at = version.find(kSaidTwice); at != std::string::npos)
    version.erase(at, kSaidTwice.size());
  return Printable(version, kVersionBytesMax);
}

std::optional<PeerLine> ParsePeerLine(std::string_view line) {
  constexpr std::size_t kWords = 4;
  const auto words = Split(line, ' ');
  if (words.size() != kWords) return std::nullopt;
  const auto count = ParseDecimal(words[0]);
  const auto median = Number(words[1]), p99 = Number(words[2]), cpu = Number(words[3]);
  if (!count || !median || !p99 || !cpu) return std::nullopt;
  return PeerLine{static_cast<std::size_t>(*count),
                  {.time_us = *median, .p99_us = *p99, .cpu_us = *cpu}};
}

}  // namespace ringlet::cli
