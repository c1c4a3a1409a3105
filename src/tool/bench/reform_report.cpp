#include "tool/bench/reform_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "tool/peers/init_report.hpp"
#include "tool/text/json_text.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kDied = "ringlet-died", kReformed = "ringlet-reformed";

double Ms(Instant time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Parses all words after the first as numbers. Empty if one is not a number.
std::optional<std::vector<std::int64_t>> NumbersAfterFirst(
    const std::vector<std::string_view>& words) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::int64_t number = 0;
    const char* const end = words[i].data() + words[i].size();
    const auto [rest, error] = std::from_chars(words[i].data(), end, number);
    if (error != std::errc() || rest != end || number < 0) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

using Step = Instant RecoveryRun::*;
constexpr Step kSteps[] = {&RecoveryRun::told, &RecoveryRun::agreed, &RecoveryRun::rebuilt,
                           &RecoveryRun::first_result};

double MedianMs(const ReformReport& report, Step step) {
  std::vector<double> times;
  for (const RecoveryRun& run : report.runs) times.push_back(Ms(run.*step));
  return Median(std::move(times));
}

}  // namespace

std::string ToLine(const ReformLine& line) {
  if (line.died) return fmt::format("{} {} {}", kDied, line.rank, line.died->count());
  return fmt::format("{} {} {} {} {} {} {} {}", kReformed, line.rank, line.told.count(),
                     line.agreed.count(), line.rebuilt.count(), line.first_result.count(),
                     line.survivors, line.is_right ? 1 : 0);
}

std::optional<ReformLine> ParseReformLine(std::string_view text) {
  const std::vector<std::string_view> words = Split(text, ' ');
  const auto numbers = NumbersAfterFirst(words);
  if (!numbers) return std::nullopt;
  const auto& n = *numbers;
  if (words[0] == kDied && n.size() == 2)
    return ReformLine{.rank = static_cast<std::uint32_t>(n[0]), .died = Instant(n[1])};
  if (words[0] != kReformed || n.size() != 7) return std::nullopt;
  return ReformLine{.rank = static_cast<std::uint32_t>(n[0]),
                    .told = Instant(n[1]),
                    .agreed = Instant(n[2]),
                    .rebuilt = Instant(n[3]),
                    .first_result = Instant(n[4]),
                    .survivors = static_cast<std::uint32_t>(n[5]),
                    .is_right = n[6] == 1};
}

Result<RecoveryRun> CombineRecovery(const std::vector<ReformLine>& lines, std::uint32_t ranks,
                                    std::uint32_t victims) {
  const std::uint32_t survivors = ranks - victims;
  Instant died = Instant::max();
  RecoveryRun run;
  std::uint32_t dead = 0, reformed = 0;
  for (const ReformLine& line : lines) {
    if (line.died) {
      died = std::min(died, *line.died);
      ++dead;
      continue;
    }
    ++reformed;
    if (!line.is_right || line.survivors != survivors)
      return Error{
          Code::kProtocol,
          fmt::format("rank {} has {} among {} ranks; {} ranks are left", line.rank,
                      line.is_right ? "a right sum" : "a wrong sum", line.survivors, survivors)};
    run.told = std::max(run.told, line.told);
    run.agreed = std::max(run.agreed, line.agreed);
    run.rebuilt = std::max(run.rebuilt, line.rebuilt);
    run.first_result = std::max(run.first_result, line.first_result);
  }
  if (dead != victims || reformed != survivors)
    return Error{Code::kProtocol, fmt::format("{} of {} ranks died, and {} of {} continued", dead,
                                              victims, reformed, survivors)};
  for (const Step step : kSteps) run.*step -= died;
  return run;
}

std::string ReformHeadText(std::uint32_t iterations) {
  return fmt::format(
      "# ringlet bench reform: ms from the first death to the last rank; medians of {}, and the "
      "worst\n#{:>7} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
      iterations, "ranks", "die", "told", "agreed", "rebuilt", "result", "worst");
}

std::string ReformRowText(const ReformReport& report) {
  std::string row = fmt::format("{:>8} {:>5}", report.ranks, report.victims);
  for (const Step step : kSteps) row += fmt::format(" {:>9.2f}", MedianMs(report, step));
  const auto worst = std::ranges::max_element(report.runs, {}, &RecoveryRun::first_result);
  return row + fmt::format(" {:>9.2f}\n", Ms(worst->first_result));
}

std::string ReformJson(const ReformReport& report) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const RecoveryRun& run : report.runs)
    runs.push_back({{"told_ms", Ms(run.told)},
                    {"agreed_ms", Ms(run.agreed)},
                    {"rebuilt_ms", Ms(run.rebuilt)},
                    {"first_result_ms", Ms(run.first_result)}});
  return JsonText({{"n", report.ranks},
                   {"die", report.victims},
                   {"told_ms", MedianMs(report, &RecoveryRun::told)},
                   {"agreed_ms", MedianMs(report, &RecoveryRun::agreed)},
                   {"rebuilt_ms", MedianMs(report, &RecoveryRun::rebuilt)},
                   {"first_result_ms", MedianMs(report, &RecoveryRun::first_result)},
                   {"repetitions", std::move(runs)}},
                  JsonLayout::kLine);
}

}  // namespace ringlet::cli
