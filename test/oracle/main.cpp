// oracle: draws programs over nccl.h, runs them in many layouts, and compares their results with a
// reference that shares no code with the library. docs/contributing/testing.md describes its use.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "draw.hpp"
#include "layouts.hpp"
#include "shrink.hpp"
#include "supervise.hpp"

namespace oracle {
namespace {

constexpr const char* kUsage = R"(usage: oracle [OPTION]...
  --seed S          seed of the first program; the next one has S + 1 (1)
  --operations N    stop when programs of at least N operations have run (2000)
  --layout NAME     one layout, or all (all)
  --replay FILE     run the program of FILE in place of drawn ones, --times T times (1)
  --print           print the first drawn program and do not run it
  --json            print the summary as JSON
  --list-layouts    print the layouts, and why one is not available here
  --jobs N          programs that run at a time (as many as cores)
  --faults N        one program of N ends with a fault; 0: none (12)
  --without LIST   what is not drawn: a comma list of {}
  --streamed        all calls that can go to streams do
  --huge            counts beyond 2^31 bytes, too: needs tens of gigabytes
  --failures N      stop after N failures (1)
  --timeout S      seconds without progress that count as a hang (100)
  --shrink-for S    seconds that a failure may be shrunk; 0: not at all (60)
  --keep DIR        where programs that failed are written (.)
)";

struct Options {
  std::uint64_t seed = 1;
  std::size_t operations = 2000;
  std::string layout = "all";
  std::string replay;
  std::string keep = ".";
  bool print = false, json = false, list = false;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int failures = 1, times = 1;
  std::chrono::seconds timeout{100}, shrink_for{60};
  DrawOptions taste;
};

template <typename T>
T Number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(text + " is no number");
  return value;
}

std::set<std::string> Without(const std::string& list) {
  std::set<std::string> without;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    if (std::find(kWithout.begin(), kWithout.end(), name) == kWithout.end())
      throw std::runtime_error(name + " is not among what can be left out");
    without.insert(name);
  }
  return without;
}

Options ParseOptions(int count, char** words) {
  Options options;
  const std::map<std::string, bool*> flags = {{"--print", &options.print},
                                              {"--json", &options.json},
                                              {"--list-layouts", &options.list},
                                              {"--huge", &options.taste.huge},
                                              {"--streamed", &options.taste.streamed}};
  for (int i = 1; i < count; ++i) {
    const std::string name = words[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    if (i + 1 == count) throw std::runtime_error(name + ": unknown, or its value is missing");
    const std::string value = words[++i];
    if (name == "--seed")
      options.seed = Number<std::uint64_t>(value);
    else if (name == "--operations")
      options.operations = Number<std::size_t>(value);
    else if (name == "--layout")
      options.layout = value;
    else if (name == "--replay")
      options.replay = value;
    else if (name == "--keep")
      options.keep = value;
    else if (name == "--jobs")
      options.jobs = Number<int>(value);
    else if (name == "--faults")
      options.taste.fault_one_in = Number<int>(value);
    else if (name == "--without")
      options.taste.without = Without(value);
    else if (name == "--failures")
      options.failures = Number<int>(value);
    else if (name == "--times")
      options.times = Number<int>(value);
    else if (name == "--timeout")
      options.timeout = std::chrono::seconds(Number<int>(value));
    else if (name == "--shrink-for")
      options.shrink_for = std::chrono::seconds(Number<int>(value));
    else
      throw std::runtime_error(name + " is unknown");
  }
  if (options.jobs < 1) throw std::runtime_error("--jobs must be at least 1");
  return options;
}

/// The outcome of one layout.
struct Tally {
  std::size_t programs = 0, operations = 0, refused = 0, failed = 0;
  std::array<std::size_t, kAmongs> among = {};  ///< operations
  std::string missing = {};                     ///< reason for its absence
  std::string reason = {};                      ///< reason of the first refused program
};

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + " cannot be read");
  return (std::stringstream() << in.rdbuf()).str();
}

/// Draws, runs and judges programs until enough have run.
class Session {
 public:
  explicit Session(const Options& options) : options_(options), start_(Running::Clock::now()) {
    for (const Layout& layout : Layouts()) {
      if (options.layout != "all" && options.layout != layout.name) continue;
      if (const auto reason = WhyNot(layout)) {
        tallies_[layout.name].missing = *reason;
        continue;
      }
      layouts_.push_back(&layout);
      for (int i = 0; i < layout.weight; ++i) weighted_.push_back(&layout);
    }
    if (layouts_.empty())
      throw std::runtime_error(options.layout + " is no layout, or not available: --list-layouts");
  }

  int Run() {
    std::vector<std::unique_ptr<Running>> running;
    while (!Done() || !running.empty()) {
      while (!Done() && static_cast<int>(running.size()) < options_.jobs)
        running.push_back(std::make_unique<Running>(NextProgram(), options_.timeout));
      for (auto& one : running) {
        const auto verdict = one->Poll(Running::Clock::now());
        if (!verdict) continue;
        const Program program = one->program();
        one.reset();
        Account(program, *verdict);
      }
      std::erase(running, nullptr);
      if (!running.empty() && !AwaitChildren()) {
        fmt::print("ended from outside\n");
        running.clear();
        ++failures_;
        break;
      }
    }
    options_.json ? PrintJson() : PrintTable();
    return failures_ > 0 ? 1 : 0;
  }

 private:
  bool Done() const { return failures_ >= options_.failures || drawn_ >= options_.operations; }

  Program NextProgram() {
    // Runs each layout once, then by weight.
    const std::uint64_t seed = options_.seed + programs_;
    const Layout& layout = programs_ < layouts_.size() ? *layouts_[programs_]
                                                       : *weighted_[Mix(seed) % weighted_.size()];
    ++programs_;
    Program program = Draw(seed, layout, options_.taste);
    drawn_ += CountCalls(program);
    return program;
  }

  void Account(const Program& program, const Verdict& verdict) {
    Tally& tally = tallies_[program.layout];
    ++tally.programs;
    if (verdict.outcome == Outcome::kPassed) {
      tally.operations += CountCalls(program);
      for (std::size_t i = 0; i < kAmongs; ++i)
        tally.among[i] += CountCalls(program, static_cast<Among>(i));
    } else {
      drawn_ -= CountCalls(program);  // others are drawn in their place
    }
    if (verdict.outcome == Outcome::kRefused && tally.refused++ == 0) tally.reason = verdict.text;
    if (!IsFailure(verdict.outcome)) return;
    ++tally.failed;
    ++failures_;
    Report(program, verdict);
  }

  void Report(const Program& program, const Verdict& verdict) const {
    fmt::print("\nFAILED ({}): seed {}, layout {}: {}\n", Name(verdict.outcome), program.seed,
               program.layout, verdict.text);
    fmt::print("  again: oracle --seed {} --layout {} --operations 1 --faults {}{}{}{}\n",
               program.seed, program.layout, options_.taste.fault_one_in,
               options_.taste.streamed ? " --streamed" : "",
               options_.taste.without.empty() ? "" : " --without ",
               fmt::join(options_.taste.without, ","));
    Shrunk shrunk{program, verdict};
    if (options_.shrink_for.count() > 0)
      shrunk = Shrink(program, verdict, std::min(options_.timeout, std::chrono::seconds(30)),
                      options_.shrink_for);
    const std::string path =
        fmt::format("{}/oracle-{}-{}.txt", options_.keep, program.layout, program.seed);
    std::string text = fmt::format("# {}: {}\n", Name(shrunk.verdict.outcome), shrunk.verdict.text);
    if (shrunk.tried > 0)
      text += fmt::format("# the drawn program failed again {} of {} times; shrunk in {} runs\n",
                          shrunk.failed, shrunk.tried, shrunk.runs);
    text += ToText(shrunk.program);
    std::ofstream(path) << text;
    fmt::print("{}{}  short: oracle --replay {}\n\n", text, shrunk.verdict.output, path);
    std::fflush(stdout);
  }

  double Seconds() const {
    return std::chrono::duration<double>(Running::Clock::now() - start_).count();
  }

  Tally Total() const {
    Tally total;
    for (const auto& [name, tally] : tallies_) {
      total.programs += tally.programs;
      total.operations += tally.operations;
      total.refused += tally.refused;
      total.failed += tally.failed;
      for (std::size_t i = 0; i < kAmongs; ++i) total.among[i] += tally.among[i];
    }
    return total;
  }

  void PrintTable() const {
    fmt::print("{:<20}{:>10}{:>12}{:>9}{:>9}\n", "layout", "programs", "operations", "refused",
               "failed");
    const auto row = [](const std::string& name, const Tally& tally) {
      fmt::print("{:<20}{:>10}{:>12}{:>9}{:>9}{}\n", name, tally.programs, tally.operations,
                 tally.refused, tally.failed,
                 tally.missing.empty() ? "" : "  not available: " + tally.missing);
    };
    for (const auto& [name, tally] : tallies_) row(name, tally);
    row("all", Total());
    const auto [streamed, captured, null_too, apart, after_child] = Total().among;
    fmt::print("{} operations on streams, {} of them in graphs, {} with null streams among them\n",
               streamed, captured, null_too);
    fmt::print("{} operations with a thread for each communicator, {} beside a forked child\n",
               apart, after_child);
    fmt::print("seeds {} to {}, {:.1f} s\n", options_.seed, options_.seed + programs_ - 1,
               Seconds());
    for (const auto& [name, tally] : tallies_)
      if (tally.refused > 0) fmt::print("{}: refused, for example: {}\n", name, tally.reason);
  }

  void PrintJson() const {
    fmt::print("{{\"seed\":{},\"seconds\":{:.1f},\"layouts\":{{", options_.seed, Seconds());
    const char* comma = "";
    for (const auto& [name, tally] : tallies_) {
      fmt::print(
          "{}\"{}\":{{\"available\":{},\"programs\":{},\"operations\":{},\"refused\":{},"
          "\"failed\":{}}}",
          comma, name, tally.missing.empty(), tally.programs, tally.operations, tally.refused,
          tally.failed);
      comma = ",";
    }
    const Tally total = Total();
    fmt::print(
        "}},\"programs\":{},\"operations\":{},\"streamed\":{},\"captured\":{},\"null_too\":{},"
        "\"apart\":{},\"after_child\":{},\"refused\":{},\"failed\":{}}}\n",
        total.programs, total.operations, total.among[0], total.among[1], total.among[2],
        total.among[3], total.among[4], total.refused, total.failed);
  }

  Options options_;
  Running::Clock::time_point start_;
  std::vector<const Layout*> layouts_, weighted_;
  std::map<std::string, Tally> tallies_;
  std::size_t programs_ = 0, drawn_ = 0;
  int failures_ = 0;
};

int Replay(const Options& options) {
  const Program program = Parse(ReadFile(options.replay));
  int failed = 0;
  for (int i = 0; i < options.times; ++i) {
    const Verdict verdict = RunToVerdict(program, options.timeout);
    fmt::print("{}{}{}\n{}", Name(verdict.outcome), verdict.text.empty() ? "" : ": ", verdict.text,
               verdict.output);
    failed += IsFailure(verdict.outcome);
  }
  if (options.times > 1) fmt::print("failed {} of {} times\n", failed, options.times);
  return failed > 0 ? 1 : 0;
}

int Main(int count, char** words) {
  if (count == 5 && std::strcmp(words[1], "--rank-process") == 0)
    return RankMain(words[2], words[3], words[4]);
  if (count == 2 && std::strcmp(words[1], "--help") == 0) {
    fmt::print(kUsage, fmt::join(kWithout, ", "));
    return 0;
  }
  const Options options = ParseOptions(count, words);
  PrepareToAwaitChildren();
  const Hosts hosts;
  const QuotaGroup quota;
  if (options.list) {
    for (const Layout& layout : Layouts()) {
      const auto reason = WhyNot(layout);
      fmt::print("{:<20}{}{}\n", layout.name, layout.what,
                 reason ? "; not available: " + *reason : "");
    }
    return 0;
  }
  if (!options.replay.empty()) return Replay(options);
  if (options.print) {
    const Layout* layout = FindLayout(options.layout == "all" ? "fork" : options.layout);
    if (!layout) throw std::runtime_error("there is no layout " + options.layout);
    fmt::print("{}", ToText(Draw(options.seed, *layout, options.taste)));
    return 0;
  }
  return Session(options).Run();
}

}  // namespace
}  // namespace oracle

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // a run may be ended from outside
  try {
    return oracle::Main(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "oracle: {}; see oracle --help\n", error.what());
    return 2;
  }
}
