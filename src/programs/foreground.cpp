#include "programs/foreground.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "programs/process_texts.hpp"

namespace ringlet::os {
namespace {

constexpr std::array kPassedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
constexpr int kCannotStart = 127;
constexpr int kSignalled = 128;
constexpr int kLookMs = 1000;  // in case a signal was lost

Error CannotRun(const std::string& program, int why) {
  return {Code::kSystem, fmt::format("cannot start {}: {}", program, std::strerror(why)), why};
}

bool IsIgnoredSignal(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Blocks the forwarded signals and SIGCHLD, and restores the mask.
class BlockedSignals {
 public:
  BlockedSignals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGCHLD);
    for (const int signal : kPassedOn)
      if (!IsIgnoredSignal(signal)) ::sigaddset(&set_, signal);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  const sigset_t& set() const { return set_; }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t set_{}, before_{};
};

struct ForegroundLaunch {
  char** arguments;
  char** environment;
  int parent, report;
  const sigset_t* mask;
};

// Runs between fork and exec, so it makes only calls that POSIX allows there.
[[noreturn]] void ExecInChild(const ForegroundLaunch& launch) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(kCannotStart);  // the parent died too early
  ::sigprocmask(SIG_SETMASK, launch.mask, nullptr);
  ::execvpe(launch.arguments[0], launch.arguments, launch.environment);
  const int why = errno;
  static_cast<void>(!::write(launch.report, &why, sizeof why));
  ::_exit(kCannotStart);
}

int ReadErrno(int from) {
  int why = 0;
  ssize_t got = 0;
  do {
    got = ::read(from, &why, sizeof why);
  } while (got < 0 && errno == EINTR);
  return got == sizeof why ? why : 0;
}

void PassOn(int from, int child) {
  signalfd_siginfo info{};
  while (::read(from, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    // The kernel sends a terminal's signals to the whole foreground, including the program.
    if (signal != SIGCHLD && info.ssi_code != SI_KERNEL) ::kill(child, signal);
  }
}

ChildExit WaitInForeground(int child, int signals) {
  int status = 0;
  for (;;) {
    const int ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return {.status = kCannotStart};  // its status is lost
    pollfd one{signals, POLLIN, 0};
    ::poll(&one, 1, kLookMs);
    PassOn(signals, child);
  }
  return WIFSIGNALED(status) ? ChildExit{.signal = WTERMSIG(status)}
                             : ChildExit{.status = WEXITSTATUS(status)};
}

}  // namespace

Result<ChildExit> RunInForeground(std::vector<std::string> arguments, const EnvMap& environment) {
  RINGLET_ASSERT(!arguments.empty());
  std::vector<std::string> variables = VariableTexts(environment);
  std::vector<char*> argument_pointers = PointersTo(arguments), pointers = PointersTo(variables);
  ::signal(SIGCHLD, SIG_DFL);  // if ignored, the kernel discards the children's status
  const BlockedSignals blocked;
  const Fd signals(::signalfd(-1, &blocked.set(), SFD_CLOEXEC | SFD_NONBLOCK));
  std::array<int, 2> ends{};
  if (!signals.valid() || ::pipe2(ends.data(), O_CLOEXEC) != 0)
    return CannotRun(arguments.front(), errno);
  const Fd report(ends[0]);
  Fd told(ends[1]);
  const ForegroundLaunch launch{.arguments = argument_pointers.data(),
                                .environment = pointers.data(),
                                .parent = ::getpid(),
                                .report = told.get(),
                                .mask = &blocked.before()};
  const int child = ::fork();
  if (child < 0) return CannotRun(arguments.front(), errno);
  if (child == 0) ExecInChild(launch);
  told.Close();
  const int why = ReadErrno(report.get());
  const ChildExit ended = WaitInForeground(child, signals.get());
  if (why != 0) return CannotRun(arguments.front(), why);
  return ended;
}

Error BecomeProgram(std::vector<std::string> arguments, const EnvMap& environment) {
  RINGLET_ASSERT(!arguments.empty());
  std::vector<std::string> variables = VariableTexts(environment);
  ::execvpe(arguments.front().c_str(), PointersTo(arguments).data(), PointersTo(variables).data());
  return CannotRun(arguments.front(), errno);
}

void ExitLike(const ChildExit& ended) {
  std::fflush(nullptr);
  if (ended.signal == 0) std::_Exit(ended.status);
  const rlimit none{0, 0};  // the program has already dumped its core, if any
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(ended.signal, SIG_DFL);
  sigset_t only;
  ::sigemptyset(&only);
  ::sigaddset(&only, ended.signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(ended.signal);
  std::_Exit(kSignalled + ended.signal);
}

}  // namespace ringlet::os
