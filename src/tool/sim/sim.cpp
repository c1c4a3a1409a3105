#include "tool/sim/sim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "os/clock.hpp"
#include "tool/sim/sim_progress.hpp"
#include "tool/sim/sim_reform.hpp"
#include "tool/sim/sim_run.hpp"
#include "tool/sim/sim_trace.hpp"
#include "tool/text/quantity.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kSim = "sim";

Status WriteFile(const std::string& path, const std::string& content) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  const bool written =
      file != nullptr && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const int error = errno;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return Ok();
  return Error{Code::kSystem,
               fmt::format("cannot write {}: {}", Quoted(path), std::strerror(error)), error};
}

std::string TraceOf(const SimWorld& world, const SimWatch& watch, const SimRow& row) {
  const auto when = [](Instant time) {
    return time == Instant(0) ? std::nullopt : std::optional(time);
  };
  std::vector<TracedRank> traced;
  for (const std::uint32_t rank : RanksToTrace(world.size(), {row.busiest_rank_index})) {
    const SimWatch::StateTimes& seen = watch.seen(rank);
    const auto& failure = world.member(rank).failure();
    if (!world.absent(rank))
      traced.push_back({.rank = rank,
                        .host = world.host(rank),
                        .start = world.start(rank),
                        .roster = when(seen.roster),
                        .standing = when(seen.standing),
                        .failed = when(seen.failed),
                        .failure = failure ? failure->text : ""});
  }
  return ChromeTrace(watch.phases(), traced);
}

Result<SimRow> Simulate(const SimOptions& options, std::uint32_t size) {
  const Instant begin = os::Now();
  auto world = SimWorld::Build(options, size);
  if (!world.ok()) return world.error();
  SimWatch watch(*world, options);
  SimProgress progress(begin);
  RunToEnd(*world, options, [&] {
    progress.OnTick(*world, os::Now(), [&] {
      return fmt::format("; {} checked in, {} have the roster, {} completed, {} failed",
                         world->checked_in(), watch.rosters(), watch.standing(), watch.failed());
    });
  });
  SimRow row = watch.Row();
  row.wall = os::Now() - begin;
  row.memory_bytes = MemoryBytes();
  // With several sizes, the trace of the last one remains.
  if (!options.trace.empty()) RINGLET_TRY(WriteFile(options.trace, TraceOf(*world, watch, row)));
  return row;
}

int Run(const SimWords& words) {
  const auto options = ParseSimOptions(words);
  if (!options.ok()) return Fail(kSim, options.error());
  std::vector<SimRow> rows;
  Status verdict = Ok();
  for (const std::uint32_t size : options->sizes) {
    auto row = Simulate(*options, size);
    if (!row.ok()) return Fail(kSim, row.error());
    if (!options->json) {
      if (rows.empty()) PrintFitted(SimHeadText(*options));
      PrintFitted(SimRowText(*row));
      fmt::print("{}", SimFailuresText(*row));
      std::fflush(stdout);
    }
    if (verdict.ok()) verdict = SimVerdict(*options, *row);
    rows.push_back(std::move(*row));
  }
  if (options->json) fmt::print("{}", SimJson(*options, rows));
  return ExitStatusOf(kSim, verdict);
}

}  // namespace

void AddSim(CLI::App& tool, Action& chosen) {
  CLI::App* sim = tool.add_subcommand("sim", "Run the real protocol on a simulated network");
  sim->require_subcommand(1);
  CLI::App* init = sim->add_subcommand("init", "Simulate how a communicator forms, at any size");
  // The parser fills the words, and the action reads them later.
  const auto words = std::make_shared<SimWords>();
  AddSimOptions(*init, *words);
  init->callback([words, &chosen] { chosen = [words] { return Run(*words); }; });
  AddSimReform(*sim, chosen);
}

}  // namespace ringlet::cli
