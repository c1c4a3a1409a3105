#include "supervise.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <vector>

#include "run_rank.hpp"
#include "verdicts.hpp"

namespace oracle {
namespace {

// Others may report their failure after the first one.
constexpr std::chrono::milliseconds kAfterTold{300};
constexpr std::size_t kOutputMax = 3000;

int ProcessesOf(const Program& program) {
  int processes = 0;
  for (const Place& place : program.places) processes = std::max(processes, place.process + 1);
  return processes;
}

std::set<int> Victims(const Program& program) {
  std::set<int> victims;
  for (const Step& step : program.steps)
    if (step.what == What::kKill)
      victims.insert(program.places[static_cast<std::size_t>(step.rank)].process);
  return victims;
}

int TextFile(const std::string& text) {
  const int file = memfd_create("program", 0);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("no memory for the program's text");
  return file;
}

[[noreturn]] void RunAsRank(const Program& program, const Layout& layout, int process,
                            SharedPage& page, int text) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  PrepareRank(layout, program, process);
  if (layout.start == Start::kExec || layout.start == Start::kExecFixed) {
    const std::string fd = std::to_string(page.descriptor()), program_fd = std::to_string(text),
                      number = std::to_string(process);
    execl("/proc/self/exe", "oracle", "--rank-process", fd.c_str(), program_fd.c_str(),
          number.c_str(), nullptr);
    throw std::runtime_error("exec of the oracle itself failed");
  }
  _exit(RunProcess(program, process, layout.may_refuse, *page));
}

void Judge(int process, int status, bool victim, Page& page) {
  if (WIFSIGNALED(status)) {
    if (victim && WTERMSIG(status) == SIGKILL) return;
    page.crashed = 1;
    page.RecordFailure(fmt::format("process {} died of signal {} ({})", process, WTERMSIG(status),
                                   strsignal(WTERMSIG(status))));
    return;
  }
  const int code = WEXITSTATUS(status);
  if (code != kExitPassed && code != kExitFailed && code != kExitRefused)
    page.RecordFailure(fmt::format("process {} ended with exit status {}", process, code));
}

void StartAndWait(const Program& program, const Layout& layout, SharedPage& page) {
  PrepareLeader(layout, program);
  if (layout.start == Start::kForkAfterUse) UseLibrary();
  const int text = TextFile(ToText(program));
  const std::set<int> victims = Victims(program);
  std::vector<pid_t> children;
  for (int process = 0; process < ProcessesOf(program); ++process) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("fork failed");
    if (child == 0) {
      try {
        RunAsRank(program, layout, process, page, text);
      } catch (const std::exception& error) {
        page->RecordFailure(
            fmt::format("the oracle cannot start process {}: {}", process, error.what()));
        _exit(kExitFailed);
      }
    }
    children.push_back(child);
  }
  if (layout.delayed && fork() == 0) DelayThreads(children, program.seed);
  for (int process = 0; process < static_cast<int>(children.size());) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);  // helpers never end
    const auto found = std::find(children.begin(), children.end(), ended);
    if (found == children.end()) continue;
    const int which = static_cast<int>(found - children.begin());
    Judge(which, status, victims.count(which) > 0, *page);
    ++process;
  }
}

[[noreturn]] void Lead(const Program& program, const Layout& layout, SharedPage& page, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  try {
    StartAndWait(program, layout, page);
  } catch (const std::exception& error) {
    page->RecordFailure(fmt::format("before the ranks: {}", error.what()));
  }
  _exit(0);
}

}  // namespace

const char* Name(Outcome outcome) {
  static constexpr const char* kNames[] = {"passed", "refused", "wrong", "crashed", "hung"};
  return kNames[static_cast<int>(outcome)];
}

Running::Running(Program program, std::chrono::seconds timeout)
    : program_(std::move(program)),
      layout_(FindLayout(program_.layout)),
      timeout_(timeout),
      output_(memfd_create("output", MFD_CLOEXEC)),
      moved_(Clock::now()) {
  if (!layout_) throw std::runtime_error("there is no layout " + program_.layout);
  if (program_.ranks() > kRanksMax) throw std::runtime_error("too many ranks");
  fcntl(output_, F_SETFL, O_APPEND);
  leader_ = fork();
  if (leader_ < 0) throw std::runtime_error("fork failed");
  if (leader_ == 0) Lead(program_, *layout_, page_, output_);
  setpgid(leader_, leader_);
}

Running::~Running() {
  if (leader_ > 0) {
    kill(-leader_, SIGKILL);
    waitpid(leader_, nullptr, 0);
  }
  close(output_);
}

std::optional<Verdict> Running::Poll(Clock::time_point now) {
  int status = 0;
  if (waitpid(leader_, &status, WNOHANG) == leader_) {
    kill(-leader_, SIGKILL);  // busy loops
    leader_ = -1;
    if (status != 0) page_->RecordFailure("the process that starts the ranks has died");
    return Conclude();
  }
  if (page_->told == 2) {
    if (!told_) told_ = now;
    if (now - *told_ > kAfterTold) return Conclude();
  }
  const std::uint64_t progress = page_->Progress();
  if (progress != progress_) {
    progress_ = progress;
    moved_ = now;
  }
  if (now - moved_ > timeout_) return Hung();
  return std::nullopt;
}

Verdict Running::Conclude() {
  if (page_->told == 2)
    return {page_->crashed ? Outcome::kCrashed : Outcome::kWrong, page_->text.data(), Output()};
  if (page_->refused == 2) return {Outcome::kRefused, page_->reason.data(), Output()};
  const std::set<int> victims = Victims(program_);
  for (int rank = 0; rank < program_.ranks(); ++rank) {
    const bool victim = victims.count(program_.places[static_cast<std::size_t>(rank)].process) > 0;
    if (!victim && page_->ranks[static_cast<std::size_t>(rank)].state != State::kPassed)
      return {Outcome::kWrong, fmt::format("rank {} ended before its program did", rank), Output()};
  }
  return {};
}

Verdict Running::Hung() const {
  return {Outcome::kHung, fmt::format("nothing moved for {} s: {}", timeout_.count(), Where()),
          Output()};
}

std::string Running::Where() const {
  std::string where;
  for (int rank = 0; rank < program_.ranks(); ++rank) {
    const Page::Rank& its = page_->ranks[static_cast<std::size_t>(rank)];
    if (its.state == State::kPassed) continue;
    where +=
        fmt::format("{}rank {} is in step {}", where.empty() ? "" : ", ", rank, its.step.load());
  }
  return where;
}

std::string Running::Output() const {
  const off_t size = lseek(output_, 0, SEEK_END);
  const auto wanted = std::min<std::size_t>(kOutputMax, static_cast<std::size_t>(size));
  std::string text(wanted, ' ');
  if (pread(output_, text.data(), wanted, size - static_cast<off_t>(wanted)) < 0) return "";
  return text;
}

Verdict RunToVerdict(const Program& program, std::chrono::seconds timeout) {
  Running running(program, timeout);
  while (true) {
    if (auto verdict = running.Poll(Running::Clock::now())) return *verdict;
    if (!AwaitChildren()) return {Outcome::kPassed, "", "ended from outside\n"};
  }
}

namespace {

sigset_t AwaitedSignals() {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&awaited, signal);
  return awaited;
}

}  // namespace

void PrepareToAwaitChildren() {
  const sigset_t awaited = AwaitedSignals();
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
}

bool AwaitChildren() {
  static bool told = false;
  const sigset_t awaited = AwaitedSignals();
  const timespec some{0, 50'000'000};
  const int signal = sigtimedwait(&awaited, nullptr, &some);
  told = told || (signal > 0 && signal != SIGCHLD);
  return !told;
}

int RankMain(const char* page_fd, const char* text_fd, const char* process) {
  SharedPage page(std::atoi(page_fd));
  const int file = std::atoi(text_fd);
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), ' ');
  if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) return 1;
  const Program program = Parse(text);
  const Layout* layout = FindLayout(program.layout);
  return RunProcess(program, std::atoi(process), layout && layout->may_refuse, *page);
}

}  // namespace oracle
