#include "frontends/cli/peer_program.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "base/text.hpp"
#include "os/limits.hpp"

namespace ringlet::cli {
namespace {

std::string ProgramOf(const std::string& peer, const std::string& folder) {
  return folder + "/ringlet_bench_" + peer;
}

// Bound as ours are. Gloo's ranks never are: the thread that does their work would share the core.
std::string BindingOption(std::string_view peer) {
  return peer == "openmpi" ? "--bind-to" : "-bind-to";
}
std::string BindingOf(const BenchOptions& options) {
  return options.measure.bound && options.ranks <= os::UsableCores() ? "core" : "none";
}

std::string_view PackageOf(std::string_view peer) {
  if (peer == "gloo") return "libgloo-dev";
  return peer == "openmpi" ? "libopenmpi-dev and openmpi-bin" : "libmpich-dev and mpich";
}

std::optional<double> Number(std::string_view text) {
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(number >= 0))
    return std::nullopt;
  return number;
}

}  // namespace

os::Command PeerBenchCommand(const std::string& peer, const BenchOptions& options,
                             const std::string& folder, EnvMap environment) {
  const MeasureOptions& measure = options.measure;
  const std::string ranks = std::to_string(options.ranks);
  std::vector<std::string> arguments;
  if (peer == "gloo")
    arguments = {ProgramOf(peer, folder), ranks};
  else
    arguments = {"mpirun." + peer,       BindingOption(peer), BindingOf(options), "-n", ranks,
                 ProgramOf(peer, folder)};
  // Open MPI refuses more ranks than cores, and root, unless it is told not to.
  environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1";
  const auto or_adapted = [](std::optional<std::uint32_t> number) {
    return number ? std::to_string(*number) : std::string("adapted");
  };
  for (std::string argument :
       {std::string(BenchOperationOf(measure.kind).name), std::string(Name(measure.type)),
        std::string(Name(measure.op)), std::to_string(Index(measure.root)),
        std::string(measure.placement == Placement::kInPlace ? "in" : "out"),
        or_adapted(measure.warmup), or_adapted(measure.iterations)})
    arguments.push_back(std::move(argument));
  for (const std::size_t count : measure.counts) arguments.push_back(std::to_string(count));
  return {std::move(arguments), std::move(environment)};
}

Status CheckPeerProgram(const std::string& peer, const std::string& folder) {
  std::error_code ignored;
  const std::string program = ProgramOf(peer, folder);
  if (std::filesystem::exists(program, ignored)) return Ok();
  return Error{Code::kUnsupported,
               fmt::format("{} is not measured: {} was not built (it needs Debian's {})", peer,
                           program, PackageOf(peer))};
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
