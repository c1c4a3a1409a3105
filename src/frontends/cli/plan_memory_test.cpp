#include "frontends/cli/plan_memory.hpp"

#include <gmock/gmock.h>

#include "os/clock.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

PlanRequest Words(std::uint32_t hosts) {
  PlanRequest request;
  request.machine.source.synthetic = "2x(numa: nic)";
  request.hosts = hosts;
  return request;
}

TEST(PlanMemoryTest, RanksComeInBlocksByNumaNode) {
  const MemoryPlan planned = PlanMemory(Words(2), 4, {}).value();
  EXPECT_EQ(planned.plan.rank_count(), 8u);
  const std::string text = MemoryPlanText(planned);
  EXPECT_THAT(text, HasSubstr("2 hosts, 8 ranks in host memory"));
  EXPECT_THAT(text, HasSubstr("leads 0 1\n"));
  EXPECT_THAT(text, HasSubstr("leads 2 3\n"));
  EXPECT_THAT(MemoryPlanJson(planned), HasSubstr("\"finalChannels\""));
}

TEST(PlanMemoryTest, PlanningTookNoLongerThanTheCall) {
  const Instant start = os::Now();
  const MemoryPlan planned = PlanMemory(Words(2), 4, {}).value();
  EXPECT_GE(planned.time, Instant(0));
  EXPECT_LE(planned.time, os::Now() - start);
}

TEST(PlanMemoryTest, TooManyAndBadVariablesAreErrors) {
  EXPECT_EQ(PlanMemory(Words(1000), 1'000'000, {}).error().code, Code::kUnsupported);
  EXPECT_THAT(PlanMemory(Words(1), 2, {{"NCCL_ALGO", "wheel"}}).error().message,
              HasSubstr("\"wheel\""));
}

}  // namespace
}  // namespace ringlet::cli
