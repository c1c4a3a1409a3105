#include "frontends/cli/run/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "comm/establish/establish.hpp"
#include "frontends/cli/run/input_pump.hpp"
#include "frontends/cli/run/launcher.hpp"
#include "frontends/cli/value_types.hpp"
#include "os/net/listener.hpp"
#include "os/process/env.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kRun = "run";
constexpr std::uint32_t kRunRanksMax = 4096;
// Of `run` and `emulate`, no two of which mean different things.
constexpr std::array<std::string_view, 6> kOptionsWithValue = {
    "-n", "--ranks", "--grace", "--devices", "--memory", "--kernels"};

struct RunOptions {
  std::uint32_t ranks = 0;
  double grace_s = 5;
  std::vector<std::string> program;
};

// A port that is free now. It may be taken before the program opens it; nothing can prevent that.
Result<std::uint16_t> FreePort() {
  RINGLET_TRY_ASSIGN(const os::Listener listener, os::Listen(Address::Ipv4(127, 0, 0, 1, 0)));
  return listener.address.port;
}

Result<std::vector<os::Command>> CommandsFor(const RunOptions& options, const EnvMap& environment,
                                             const UniqueId& id) {
  RankIdentity place{.rank = 0, .ranks = options.ranks, .unique_id = rendezvous::ToText(id)};
  RINGLET_TRY_ASSIGN(place.master_port, FreePort());
  std::vector<os::Command> commands;
  for (; place.rank < options.ranks; ++place.rank)
    commands.push_back({options.program, RankEnvironment(environment, place)});
  return commands;
}

/// Standard input goes to rank 0: as it is, or, where it is a terminal, by a pump.
Result<std::optional<InputPump>> PassInput(os::Command& first) {
  if (::isatty(STDIN_FILENO) == 0) {
    if (::fcntl(STDIN_FILENO, F_GETFD) >= 0) first.input = STDIN_FILENO;
    return std::optional<InputPump>();
  }
  RINGLET_TRY_ASSIGN(InputPump pump, InputPump::Open(STDIN_FILENO));
  first.input = pump.reader().get();
  return std::optional(std::move(pump));
}

void ShowLine(Rank rank, Stream stream, std::string_view line) {
  std::FILE* const to = stream == Stream::kOutput ? stdout : stderr;
  fmt::print(to, "[{}] {}\n", Index(rank), line);
  std::fflush(to);
}

int Run(const RunOptions& options) {
  if (options.program.empty())
    return Fail(kRun, Error{Code::kInvalidArgument,
                            "no program; write ringlet run -n N PROGRAM ARGUMENTS..."});
  const auto signals = TakeSignals();  // before there are threads
  if (!signals.ok()) return Fail(kRun, signals.error());
  const EnvMap environment = os::ReadEnvironment();
  const auto process = comm::Process::StartIn(WithLogOnErrors(environment));
  if (!process.ok()) return Fail(kRun, process.error());
  const auto id = comm::CreateUniqueId(*process);
  if (!id.ok()) return Fail(kRun, id.error());
  auto commands = CommandsFor(options, environment, *id);
  if (!commands.ok()) return Fail(kRun, commands.error());

  LauncherOptions launcher;
  launcher.commands = *std::move(commands);
  auto terminal = PassInput(launcher.commands.front());
  if (!terminal.ok()) return Fail(kRun, terminal.error());
  if (*terminal) launcher.input = &**terminal;
  launcher.grace =
      std::chrono::duration_cast<Instant>(std::chrono::duration<double>(options.grace_s));
  launcher.on_line = ShowLine;
  launcher.on_failure = [](const RankEnd& end) {
    Tell(kRun, fmt::format("rank {} {}; ending the others", Index(end.rank), ToString(end.how)));
  };
  const auto outcome = LaunchRanks(**signals, launcher);
  if (!outcome.ok()) {
    Fail(kRun, outcome.error());
    return kExitCannotStart;
  }
  if (outcome->user_signal)
    Tell(kRun, fmt::format("ended by {}", os::SignalName(*outcome->user_signal)));
  return outcome->ExitStatus();
}

}  // namespace

bool TakesProgram(std::string_view command) {
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
    split.own.push_back(argument);
    if (std::ranges::count(kOptionsWithValue, argument) > 0 && i + 1 < arguments.size())
      split.own.push_back(arguments[++i]);
  }
  return split;
}

EnvMap RankEnvironment(EnvMap base, const RankIdentity& place) {
  const std::string rank = std::to_string(place.rank), ranks = std::to_string(place.ranks);
  base["RINGLET_UNIQUE_ID"] = place.unique_id;
  for (const char* name : {"RINGLET_RANK", "RINGLET_LOCAL_RANK", "RANK", "LOCAL_RANK"})
    base[name] = rank;
  for (const char* name : {"RINGLET_WORLD_SIZE", "WORLD_SIZE", "LOCAL_WORLD_SIZE"})
    base[name] = ranks;
  base["MASTER_ADDR"] = "127.0.0.1";
  base["MASTER_PORT"] = std::to_string(place.master_port);
  return base;
}

void AddRun(CLI::App& tool, std::vector<std::string> program, Action& chosen) {
  CLI::App* run = tool.add_subcommand("run", "Start a program once per rank on this machine");
  run->footer(
      "Then the program and its arguments: ringlet run -n RANKS [--] PROGRAM ARGUMENTS...\n"
      "Rank 0 has the standard input of this command; the others have none.\n"
      "Each rank is told RINGLET_UNIQUE_ID, RINGLET_RANK, RINGLET_WORLD_SIZE, RINGLET_LOCAL_RANK "
      "and\n"
      "torchrun's RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT.");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto options = std::make_shared<RunOptions>();
  options->program = std::move(program);
  run->add_option("-n,--ranks", options->ranks, "Number of ranks")
      ->required()
      ->check(CLI::Range(1u, kRunRanksMax));
  run->add_option("--grace", options->grace_s,
                  "Seconds between SIGTERM and SIGKILL when a rank has failed or the user ends it")
      ->type_name(kSecondsType)
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  run->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
