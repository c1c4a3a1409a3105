// The common parts of the tests of the protocols: the extent of the exploration, and the reports.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "explorer.hpp"
#include "os/process/process_memory.hpp"

namespace ringlet::model {

/// Returns this process as known by another one.
inline os::KnownProcess LocalHost() {
  static const Secret sign = {std::byte{1}, std::byte{2}};
  return {.pid = ::getpid(), .sign_at = RemoteAddress::Of(sign.data()), .sign = sign};
}

/// RINGLET_MODEL_LONG=1: hours instead of seconds.
inline bool Long() {
  const char* const text = std::getenv("RINGLET_MODEL_LONG");
  return text != nullptr && std::string(text) == "1";
}

inline void PrintReport(const Scenario& scenario, const Report& report, const std::string& which) {
  std::printf("  %s: %s, %llu executions and %llu cut short, %llu steps\n", scenario.name.c_str(),
              which.c_str(), static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.cut),
              static_cast<unsigned long long>(report.steps));
}

/// Expects that every execution is right, and that the exploration was exhaustive.
inline void ExpectRightInAll(const Scenario& scenario) {
  const Report report = Explore(scenario, {.executions_max = UINT64_MAX});
  PrintReport(scenario, report, "all");
  EXPECT_EQ(report.bug, "");
  EXPECT_TRUE(report.exhausted);
}

/// For larger ones: expects that executions with few deviations, and drawn ones, are right.
inline void ExpectRightInMuch(const Scenario& scenario, std::uint32_t deviations = 2) {
  const std::uint32_t most = deviations + (Long() ? 1 : 0);
  const Report few = Explore(scenario, {.executions_max = UINT64_MAX, .deviations_max = most});
  PrintReport(scenario, few, "all with at most " + std::to_string(most) + " deviations");
  EXPECT_EQ(few.bug, "");
  EXPECT_TRUE(few.exhausted);
  const Report drawn = Explore(scenario, {.drawn = Long() ? 5'000'000u : 2'000u, .seed = 1});
  PrintReport(scenario, drawn, "drawn from seed 1");
  EXPECT_EQ(drawn.bug, "");
}

/// Expects that the explorer finds the mistake.
inline void ExpectFound(const Scenario& scenario, const Plant& plant, const std::string& as) {
  Report report = Explore(scenario, {.executions_max = 100'000, .deviations_max = 2}, &plant);
  if (report.bug.empty()) report = Explore(scenario, {.drawn = 100'000, .seed = 1}, &plant);
  std::printf("  %s, planted: %s: found after %llu executions\n", scenario.name.c_str(),
              plant.name.c_str(), static_cast<unsigned long long>(report.executions + report.cut));
  EXPECT_THAT(report.bug, testing::HasSubstr(as)) << plant.name;
}

/// Plants that weaken the order of one kind of operation at places whose name begins with `where`.
inline Plant Weakened(const std::string& name, const std::string& where, Op op,
                      Order order = Order::kRelaxed) {
  return {.name = name, .before = [=](std::string_view at, Event& event) {
            if (event.op == op && at.starts_with(where)) event.order = order;
          }};
}
inline Plant Dropped(const std::string& name, const std::string& where, Op op) {
  return {.name = name, .before = [=](std::string_view at, Event& event) {
            if (event.op == op && at.starts_with(where)) event.dropped = true;
          }};
}

}  // namespace ringlet::model
