#include "programs/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "os/process/signals.hpp"
#include "programs/process_texts.hpp"

namespace ringlet::os {
namespace {

struct PipeEnds {
  Fd read, write;
};

Result<PipeEnds> OpenPipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{Code::kSystem, fmt::format("cannot open a pipe: {}", std::strerror(errno)), errno};
  return PipeEnds{Fd(ends[0]), Fd(ends[1])};
}

// The child's data. The parent creates it before the fork, because other threads may hold the
// allocator's locks at the fork.
struct Launch {
  char** arguments;
  char** environment;
  int parent;
  int input, output, errors, report;
};

// Runs between fork and exec, so it makes only calls that POSIX allows there.
[[noreturn]] void BecomeProgram(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);  // the parent died before the watch began
  ::dup2(launch.input, STDIN_FILENO);
  ::dup2(launch.output, STDOUT_FILENO);
  ::dup2(launch.errors, STDERR_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Shells ignore these signals for background jobs, and a script cannot trap a signal that its
  // parent ignored. This process passes them on.
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGQUIT, SIG_DFL);
  ::execvpe(launch.arguments[0], launch.arguments, launch.environment);
  const int why = errno;
  static_cast<void>(!::write(launch.report, &why, sizeof why));
  ::_exit(127);
}

// Returns the errno of a failed exec, or 0 if a successful exec closed the pipe.
int ReadReport(const Fd& report) {
  int why = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.get(), &why, sizeof why);
  } while (got < 0 && errno == EINTR);
  return got == sizeof why ? why : 0;
}

void WaitFor(int pid, int* status) {
  while (::waitpid(pid, status, 0) < 0 && errno == EINTR) {
  }
}

void SetNonBlocking(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

std::string ToString(const ChildExit& ended) {
  if (ended.signal == 0) return fmt::format("exited with status {}", ended.status);
  return fmt::format("was killed by signal {} ({})", ended.signal, SignalName(ended.signal));
}

Result<Child> Child::Start(const Command& command) {
  RINGLET_ASSERT(!command.arguments.empty());
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = VariableTexts(command.environment);
  std::vector<char*> argument_pointers = PointersTo(arguments), variables = PointersTo(environment);
  RINGLET_TRY_ASSIGN(PipeEnds output, OpenPipe());
  RINGLET_TRY_ASSIGN(PipeEnds errors, OpenPipe());
  RINGLET_TRY_ASSIGN(PipeEnds report, OpenPipe());
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Launch launch{.arguments = argument_pointers.data(),
                      .environment = variables.data(),
                      .parent = ::getpid(),
                      .input = command.input < 0 ? nothing.get() : command.input,
                      .output = output.write.get(),
                      .errors = errors.write.get(),
                      .report = report.write.get()};
  const int pid = ::fork();
  if (pid < 0)
    return Error{Code::kSystem, fmt::format("cannot start a process: {}", std::strerror(errno)),
                 errno};
  if (pid == 0) BecomeProgram(launch);
  ::setpgid(pid, pid);  // the child does it too; the first call counts
  report.write.Close();
  if (const int why = ReadReport(report.read); why != 0) {
    WaitFor(pid, nullptr);
    return Error{Code::kSystem,
                 fmt::format("cannot run \"{}\": {}", arguments[0], std::strerror(why)), why};
  }
  SetNonBlocking(output.read);
  SetNonBlocking(errors.read);
  return Child(pid, std::move(output.read), std::move(errors.read));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      ended_(other.ended_) {}

Child::~Child() {
  if (pid_ == 0 || ended_) return;
  ::kill(-pid_, SIGKILL);
  WaitFor(pid_, nullptr);
}

void Child::Signal(int signal) {
  if (!ended_) ::kill(-pid_, signal);
}

std::optional<ChildExit> Child::Poll() {
  if (ended_) return ended_;
  // Read the status before releasing the pid: afterwards it may name another process.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return std::nullopt;
  ::kill(-pid_, SIGKILL);
  int status = 0;
  WaitFor(pid_, &status);
  ended_ = WIFSIGNALED(status) ? ChildExit{.signal = WTERMSIG(status)}
                               : ChildExit{.status = WEXITSTATUS(status)};
  return ended_;
}

Arrived ReadAvailable(const Fd& from, std::size_t bytes_max) {
  Arrived arrived;
  arrived.bytes.resize(bytes_max);
  ssize_t got = 0;
  do {
    got = ::read(from.get(), arrived.bytes.data(), bytes_max);
  } while (got < 0 && errno == EINTR);
  arrived.end = got == 0 || (got < 0 && errno != EAGAIN);
  arrived.bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return arrived;
}

}  // namespace ringlet::os
