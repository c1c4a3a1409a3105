#include "tool/run/launcher.hpp"

#include <signal.h>

#include <algorithm>

#include "os/clock.hpp"
#include "os/net/poll.hpp"
#include "tool/run/input_pump.hpp"
#include "tool/run/lines.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kReadBytes = 65'536;  // capacity of a pipe
// Maximum number of bytes read from a rank after its end. Pipes hold 64 KiB unless the program made
// them larger (to at most 1 MiB without privileges). Only an escaped process can write more.
constexpr std::size_t kLastWordsBytesMax = std::size_t{1} << 20;
constexpr Instant kSecond = std::chrono::seconds(1);

class LaunchedRank {
 public:
  LaunchedRank(Rank rank, os::Child child) : rank_(rank), child_(std::move(child)) {}

  Rank rank() const { return rank_; }
  bool ended() const { return ended_; }
  void Signal(int signal) { child_.Signal(signal); }

  void AddDescriptors(std::vector<int>& descriptors) const {
    if (!output_.end) descriptors.push_back(child_.output().get());
    if (!errors_.end) descriptors.push_back(child_.errors().get());
  }

  // Reads arrived bytes, at most a pipe's capacity per stream, so that no rank delays the others.
  std::size_t Read(const LauncherOptions& options) {
    return ReadOne(options, Stream::kOutput, child_.output(), output_) +
           ReadOne(options, Stream::kErrors, child_.errors(), errors_);
  }

  std::optional<RankEnd> PollEnd(const LauncherOptions& options) {
    if (ended_) return std::nullopt;
    const auto how = child_.Poll();
    if (!how) return std::nullopt;
    ended_ = true;
    std::size_t read = 0;
    for (std::size_t more = 1; more > 0 && read < kLastWordsBytesMax; read += more)
      more = Read(options);
    for (Incoming* one : {&output_, &errors_}) {
      one->end = true;
      const std::string rest = one->cutter.Finish();
      if (!rest.empty())
        options.on_line(rank_, one == &output_ ? Stream::kOutput : Stream::kErrors, rest);
    }
    return RankEnd{rank_, *how};
  }

 private:
  struct Incoming {
    LineCutter cutter;
    bool end = false;
  };

  std::size_t ReadOne(const LauncherOptions& options, Stream stream, const os::Fd& from,
                      Incoming& into) {
    if (into.end) return 0;
    const os::Arrived arrived = os::ReadAvailable(from, kReadBytes);
    into.end = arrived.end;
    for (const std::string& line : into.cutter.Push(arrived.bytes))
      options.on_line(rank_, stream, line);
    return arrived.bytes.size();
  }

  Rank rank_;
  os::Child child_;
  Incoming output_, errors_;
  bool ended_ = false;
};

Result<std::vector<LaunchedRank>> StartAll(const LauncherOptions& options) {
  std::vector<LaunchedRank> members;
  for (const os::Command& command : options.commands) {
    RINGLET_TRY_ASSIGN(os::Child child, os::Child::Start(command));
    members.emplace_back(Rank{static_cast<std::uint32_t>(members.size())}, std::move(child));
  }
  return members;
}

void Wait(const std::vector<LaunchedRank>& members, const InputPump* input,
          const os::SignalQueue& signals, std::optional<Instant> deadline, Instant now) {
  std::vector<int> descriptors{signals.fd().get()};
  for (const LaunchedRank& member : members) member.AddDescriptors(descriptors);
  if (input != nullptr) input->AddDescriptor(descriptors);
  const Instant timeout = deadline ? std::min(*deadline - now, kSecond) : kSecond;
  os::PollReadable(descriptors, timeout);
}

}  // namespace

int LauncherOutcome::ExitStatus() const {
  if (user_signal) return kExitSignalled + *user_signal;
  if (!first_failure) return kExitDone;
  const os::ChildExit how = first_failure->how;
  return how.signal != 0 ? kExitSignalled + how.signal : how.status;
}

Result<std::unique_ptr<os::SignalQueue>> TakeSignals() {
  return os::SignalQueue::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD});
}

Result<LauncherOutcome> LaunchRanks(os::SignalQueue& signals, const LauncherOptions& options) {
  RINGLET_TRY_ASSIGN(std::vector<LaunchedRank> members, StartAll(options));
  Supervisor supervisor(static_cast<std::uint32_t>(members.size()), options.grace,
                        options.keep_going);
  Instant next_second = os::Now() + kSecond;
  while (!supervisor.finished()) {
    Wait(members, options.input, signals, supervisor.Deadline(), os::Now());
    const Instant now = os::Now();
    while (const auto signal = signals.Next())
      if (*signal != SIGCHLD) supervisor.OnSignal(*signal, now);
    if (options.input != nullptr) options.input->Pump();
    std::vector<RankEnd> ends;
    for (LaunchedRank& member : members) {
      member.Read(options);
      if (const auto end = member.PollEnd(options)) ends.push_back(*end);
    }
    const bool failed_before = supervisor.first_failure().has_value();
    supervisor.OnEnds(ends, now);
    supervisor.OnTick(now);
    if (options.keep_going) {
      for (const RankEnd& end : ends)
        if (!end.how.ok() && !supervisor.user_signal()) options.on_failure(end);
    } else if (supervisor.first_failure() && !failed_before) {
      options.on_failure(*supervisor.first_failure());
    }
    while (const auto order = supervisor.TakeOrder())
      for (LaunchedRank& member : members) member.Signal(*order);
    if (options.on_second && now >= next_second) {
      options.on_second(now);
      next_second = now + kSecond;
    }
  }
  return LauncherOutcome{supervisor.first_failure(), supervisor.user_signal()};
}

}  // namespace ringlet::cli
