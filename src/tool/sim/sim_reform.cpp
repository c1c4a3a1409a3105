#include "tool/sim/sim_reform.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "os/clock.hpp"
#include "tool/sim/sim_progress.hpp"
#include "tool/sim/sim_reform_run.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/quantity.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kSimReform = "sim reform";

struct SimReformWords {
  SimWords model;
  std::string kill = "1";
  std::string which = "any";
  std::uint32_t later = 0;
};

Result<SimDeaths> ParseDeaths(const SimReformWords& words) {
  SimDeaths deaths{.later = words.later};
  if (words.which == "first") deaths.which = SimDeaths::Which::kFirst;
  if (words.which == "hosts") deaths.which = SimDeaths::Which::kHosts;
  std::string_view number = words.kill;
  const bool is_share = number.ends_with('%');
  if (is_share) number.remove_suffix(1);
  const Error bad{Code::kInvalidArgument,
                  fmt::format("--kill {}: write a number from 1, or a share like 1% or 0.5%",
                              Quoted(words.kill))};
  if (is_share) {
    double percent = 0;
    const char* const end = number.data() + number.size();
    const auto [rest, error] = std::from_chars(number.data(), end, percent);
    if (error != std::errc() || rest != end || !(percent > 0 && percent < 100)) return bad;
    deaths.share = percent / 100;
    return deaths;
  }
  const auto count = ParseDecimal(number);
  if (!count || *count == 0 || *count > 0xffffffff) return bad;
  deaths.count = static_cast<std::uint32_t>(*count);
  return deaths;
}

double Milliseconds(Instant time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

double CpuPerSurvivorMicroseconds(const SimReformRow& row) {
  return 1e3 * Milliseconds(row.cpu) / (row.ranks - row.died);
}

std::string HeadText(const SimOptions& options, const SimReformWords& words) {
  std::string text = fmt::format(
      "# ringlet sim reform: tree of arity {}; between hosts {}, inside one {}; seed {}\n",
      options.arity, DurationText(options.latency), DurationText(options.local_latency),
      options.seed);
  text += fmt::format("# --kill {} --which {}{}\n", words.kill, words.which,
                      words.later == 0 ? "" : fmt::format(" --later {}", words.later));
  return text +
         fmt::format(
             "# times in ms after the deaths, of the last survivor; cpu: processor time of the "
             "simulation for each survivor\n#\n"
             "# {:>7} {:>7} {:>7} {:>9} {:>9} {:>8} {:>11} {:>9} {:>9} {:>8} {:>8} {:>7}\n"
             "# {:>7} {:>7} {:>7} {:>9} {:>9} {:>8} {:>11} {:>9} {:>9} {:>8} {:>8} {:>7}\n",
             "ranks", "hosts", "died", "told", "agreed", "attempts", "new", "most", "events", "cpu",
             "wall", "memory",  //
             "", "", "", "", "", "", "connections", "messages", "", "(us)", "(s)", "(MB)");
}

std::string RowText(const SimReformRow& row) {
  return fmt::format(
      "{:>9} {:>7} {:>7} {:>9.3f} {:>9.3f} {:>8} {:>11} {:>9} {:>9} {:>8.1f} {:>8.2f} {:>7}\n",
      row.ranks, row.hosts, row.died, Milliseconds(row.told), Milliseconds(row.agreed),
      row.attempts, row.connections, row.messages_max, row.events, CpuPerSurvivorMicroseconds(row),
      Milliseconds(row.wall) / 1e3, row.memory_bytes / 1'000'000);
}

std::string JsonRow(const SimReformRow& row, const SimOptions& options) {
  return JsonText({{"n", row.ranks},
                   {"hosts", row.hosts},
                   {"seed", options.seed},
                   {"latency_us", 1e3 * Milliseconds(options.latency)},
                   {"died", row.died},
                   {"reformed", row.reformed},
                   {"left_out", row.left_out},
                   {"waiting", row.waiting},
                   {"attempts", row.attempts},
                   {"told_ms", Milliseconds(row.told)},
                   {"agreed_ms", Milliseconds(row.agreed)},
                   {"connections", row.connections},
                   {"messages_max", row.messages_max},
                   {"bytes_max", row.bytes_max},
                   {"events", row.events},
                   {"cpu_us", CpuPerSurvivorMicroseconds(row)},
                   {"wall_s", Milliseconds(row.wall) / 1e3},
                   {"memory_bytes", row.memory_bytes}},
                  JsonLayout::kLine);
}

Result<SimReformRow> Simulate(const SimOptions& options, const SimDeaths& deaths,
                              std::uint32_t size) {
  const Instant begin = os::Now();
  RINGLET_TRY_ASSIGN(SimWorld world, SimWorld::Build(options, size));
  SimProgress progress(begin);
  RINGLET_TRY_ASSIGN(SimReformRow row, RunReform(world, options, deaths, [&] {
                       progress.OnTick(world, os::Now(), [] { return std::string(); });
                     }));
  row.wall = os::Now() - begin;
  row.memory_bytes = MemoryBytes();
  return row;
}

int RunSimReform(const SimReformWords& words) {
  const auto options = ParseSimOptions(words.model);
  if (!options.ok()) return Fail(kSimReform, options.error());
  const auto deaths = ParseDeaths(words);
  if (!deaths.ok()) return Fail(kSimReform, deaths.error());
  Status verdict = Ok();
  bool headed = options->json;
  for (const std::uint32_t size : options->sizes) {
    const auto row = Simulate(*options, *deaths, size);
    if (!row.ok()) return Fail(kSimReform, row.error());
    if (!std::exchange(headed, true)) PrintFitted(HeadText(*options, words));
    if (options->json)
      fmt::print("{}", JsonRow(*row, *options));
    else
      PrintFitted(RowText(*row));
    std::fflush(stdout);
    if (verdict.ok()) verdict = ReformVerdict(*row);
  }
  return ExitStatusOf(kSimReform, verdict);
}

}  // namespace

void AddSimReform(CLI::App& sim, Action& chosen) {
  CLI::App* reform = sim.add_subcommand(
      "reform", "Simulate how ranks continue after others have died, at any size");
  // The parser fills the words, and the action reads them later.
  const auto words = std::make_shared<SimReformWords>();
  AddSimModel(*reform, words->model);
  reform
      ->add_option("--kill", words->kill,
                   "Ranks that die at the same time: a number, or a share like 1%")
      ->capture_default_str();
  reform
      ->add_option("--which", words->which,
                   "Ranks that die: any, drawn at random; first, from rank 0 on; or hosts, all "
                   "ranks of random hosts, which --kill counts")
      ->check(CLI::IsMember({"any", "first", "hosts"}))
      ->capture_default_str();
  reform
      ->add_option("--later", words->later,
                   "Random ranks that die when the first survivor is told of a death")
      ->capture_default_str();
  reform->add_flag("--json", words->model.json,
                   "One object per line for each number of ranks: n, died, told_ms, agreed_ms, "
                   "attempts, connections, cpu_us, ...");
  reform->callback([words, &chosen] { chosen = [words] { return RunSimReform(*words); }; });
}

}  // namespace ringlet::cli
