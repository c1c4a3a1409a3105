#include "tool/run/run.hpp"

#include <algorithm>
#include <array>

#include "os/process/env.hpp"
#include "tool/run/job.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kRun = "run";
// Options of `run` and `emulate` with a value. An option in both commands has the same meaning.
constexpr std::array<std::string_view, 15> kOptionsWithValue = {
    "-n",       "-np",       "--ranks",       "--grace", "--devices",
    "--memory", "--kernels", "--machine",     "--hosts", "--policy",
    "--report", "--kill",    "--drop-nvlink", "--sysfs", "--slow"};

struct RunOptions {
  std::uint32_t ranks = 0;
  double grace_s = 5;
  bool keep_going = false;
  std::vector<std::string> program;
};

int Run(const RunOptions& options) {
  if (options.program.empty())
    return Fail(kRun, Error{Code::kInvalidArgument,
                            "no program; write ringlet run -n N PROGRAM ARGUMENTS..."});
  const EnvMap environment = os::ReadEnvironment();
  return RunJob({.command = kRun,
                 .program = options.program,
                 .ranks = options.ranks,
                 .grace_s = options.grace_s,
                 .keep_going = options.keep_going,
                 .environment = [&](std::uint32_t) { return environment; }});
}

}  // namespace

void AddKeepGoing(CLI::App& command, bool& keep_going) {
  command.add_flag("--keep-going", keep_going,
                   "Keep other ranks running after a rank has failed. The exit status is that of "
                   "the first rank that exited nonzero without a signal; 0 without such a rank");
}

bool AcceptsProgram(std::string_view command) {
  return command == "run" || command == "emulate";
}

RunArguments SplitRunArguments(const std::vector<std::string>& arguments) {
  RunArguments split;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool cut = argument == "--";
    if (cut || !argument.starts_with('-')) {
      split.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(cut ? i + 1 : i),
                           arguments.end());
      break;
    }
    // The parser would read mpirun's spelling -np as -n with the value p.
    split.own.push_back(argument == "-np" ? "-n" : argument);
    if (std::ranges::count(kOptionsWithValue, argument) > 0 && i + 1 < arguments.size())
      split.own.push_back(arguments[++i]);
  }
  return split;
}

void AddRun(CLI::App& tool, std::vector<std::string> program, Action& chosen) {
  CLI::App* run = tool.add_subcommand("run", "Start a program on this machine, once for each rank");
  run->footer(
      "The program and its arguments follow: ringlet run -n RANKS [--] PROGRAM ARGUMENTS...\nOnly "
      "rank 0 receives the standard input of this command.\nThe environment of each rank has "
      "RINGLET_UNIQUE_ID, RINGLET_RANK, RINGLET_WORLD_SIZE,\nRINGLET_LOCAL_RANK and torchrun's "
      "RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,\nMASTER_PORT.");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<RunOptions>();
  options->program = std::move(program);
  run->add_option("-n,--ranks", options->ranks, "Number of ranks")
      ->required()
      ->check(CLI::Range(1u, kRunRanksMax));
  run->add_option("--grace", options->grace_s,
                  "Seconds between SIGTERM and SIGKILL after a rank has failed or the user has "
                  "stopped the program")
      ->type_name(kSecondsType)
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  AddKeepGoing(*run, options->keep_going);
  run->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
