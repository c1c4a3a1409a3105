// Runs a program's processes and watches them from outside.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "layouts.hpp"
#include "page.hpp"
#include "program.hpp"

namespace oracle {

enum class Outcome { kPassed, kRefused, kWrong, kCrashed, kHung };
const char* Name(Outcome outcome);
constexpr bool IsFailure(Outcome outcome) {
  return outcome >= Outcome::kWrong;
}

struct Verdict {
  Outcome outcome = Outcome::kPassed;
  std::string text = {};    ///< the failure, or the reason of the refusal
  std::string output = {};  ///< the end of the processes' output
};

/// A running program. Its destructor ends all its processes.
class Running {
 public:
  using Clock = std::chrono::steady_clock;

  /// \param timeout  a program hangs after this time without progress of any rank
  Running(Program program, std::chrono::seconds timeout);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  const Program& program() const { return program_; }
  /// Returns the verdict, once it exists.
  std::optional<Verdict> Poll(Clock::time_point now);

 private:
  Verdict Conclude();
  Verdict Hung() const;
  std::string Where() const;
  std::string Output() const;

  Program program_;
  const Layout* layout_;
  std::chrono::seconds timeout_;
  SharedPage page_;
  int output_ = -1;
  pid_t leader_ = -1;
  std::uint64_t progress_ = 0;
  Clock::time_point moved_;
  std::optional<Clock::time_point> told_;
};

Verdict RunToVerdict(const Program& program, std::chrono::seconds timeout);

/// Sleeps until a child ends, at most some ms. False: this process was requested to end.
bool AwaitChildren();
void PrepareToAwaitChildren();

/// The main function of a rank's process started by exec, with arguments from Running.
int RankMain(const char* page, const char* text, const char* process);

}  // namespace oracle
