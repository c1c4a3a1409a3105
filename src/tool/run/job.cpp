#include "tool/run/job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "comm/establish/establish.hpp"
#include "os/net/listener.hpp"
#include "os/process/env.hpp"
#include "rendezvous/invitation.hpp"
#include "tool/run/input_pump.hpp"
#include "tool/run/launcher.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {
namespace {

// Returns a port that is free now. Another program may take it before the program opens it.
Result<std::uint16_t> FreePort() {
  RINGLET_TRY_ASSIGN(const os::Listener listener, os::Listen(Address::Ipv4(127, 0, 0, 1, 0)));
  return listener.address.port;
}

Result<std::vector<os::Command>> CommandsFor(const RankJob& job, const UniqueId& id) {
  RankIdentity place{.rank = 0,
                     .ranks = job.ranks,
                     .local_ranks = job.ranks / job.hosts,
                     .unique_id = rendezvous::ToText(id)};
  RINGLET_TRY_ASSIGN(place.master_port, FreePort());
  std::vector<os::Command> commands;
  for (std::uint32_t host = 0; host < job.hosts; ++host) {
    const EnvMap environment = job.environment(host);
    for (place.local_rank = 0; place.local_rank < place.local_ranks;
         ++place.local_rank, ++place.rank)
      commands.push_back({job.program, RankEnvironment(environment, place)});
  }
  return commands;
}

/// Passes standard input to rank 0. Passes the descriptor itself, or copies a terminal with a pump.
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

}  // namespace

EnvMap RankEnvironment(EnvMap base, const RankIdentity& place) {
  const std::string rank = std::to_string(place.rank), ranks = std::to_string(place.ranks);
  base["RINGLET_UNIQUE_ID"] = place.unique_id;
  base["RINGLET_RANK"] = base["RANK"] = rank;
  base["RINGLET_WORLD_SIZE"] = base["WORLD_SIZE"] = ranks;
  base["RINGLET_LOCAL_RANK"] = base["LOCAL_RANK"] = std::to_string(place.local_rank);
  base["LOCAL_WORLD_SIZE"] = std::to_string(place.local_ranks);
  base["MASTER_ADDR"] = "127.0.0.1";
  base["MASTER_PORT"] = std::to_string(place.master_port);
  return base;
}

int RunJob(const RankJob& job) {
  const auto signals = TakeSignals();  // before any thread starts
  if (!signals.ok()) return Fail(job.command, signals.error());
  const auto process = comm::Process::StartIn(WithLogOnErrors(os::ReadEnvironment()));
  if (!process.ok()) return Fail(job.command, process.error());
  const auto id = comm::CreateUniqueId(*process);
  if (!id.ok()) return Fail(job.command, id.error());
  auto commands = CommandsFor(job, *id);
  if (!commands.ok()) return Fail(job.command, commands.error());

  LauncherOptions launcher;
  launcher.commands = *std::move(commands);
  auto terminal = PassInput(launcher.commands.front());
  if (!terminal.ok()) return Fail(job.command, terminal.error());
  if (*terminal) launcher.input = &**terminal;
  launcher.grace = std::chrono::duration_cast<Instant>(std::chrono::duration<double>(job.grace_s));
  launcher.keep_going = job.keep_going;
  launcher.on_line = ShowLine;
  launcher.on_failure = [&job](const RankEnd& end) {
    PrintNote(job.command,
              fmt::format("rank {} {}; {}", Index(end.rank), ToString(end.how),
                          job.keep_going ? "the others keep going" : "ending the others"));
  };
  const auto outcome = LaunchRanks(**signals, launcher);
  if (!outcome.ok()) {
    Fail(job.command, outcome.error());
    return kExitCannotStart;
  }
  if (outcome->user_signal)
    PrintNote(job.command, fmt::format("ended by {}", os::SignalName(*outcome->user_signal)));
  return outcome->ExitStatus();
}

}  // namespace ringlet::cli
