#include "tool/plan/plan_report.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

TEST(PlanReportTest, PercentIsOfTheBoundAndAtMostAHundred) {
  plan::PatternGraph graph;
  graph.channels.resize(2);
  graph.intra = {10'000};
  EXPECT_EQ(PercentOfBound(graph), 0);
  graph.bound = {40'000};
  EXPECT_EQ(PercentOfBound(graph), 50);
  graph.bound = {19'000};
  EXPECT_EQ(PercentOfBound(graph), 100);
}

}  // namespace
}  // namespace ringlet::cli
