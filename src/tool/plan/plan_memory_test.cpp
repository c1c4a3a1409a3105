#include "tool/plan/plan_memory.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "os/clock.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

PlanRequest RequestFor(std::uint32_t hosts) {
  PlanRequest request;
  request.machine.source.synthetic = "2x(numa: nic)";
  request.hosts = hosts;
  return request;
}

TEST(PlanMemoryTest, AssignsBlocksOfRanksToNumaNodes) {
  const MemoryPlan planned = PlanMemory(RequestFor(2), 4, {}).value();
  EXPECT_EQ(planned.plan.rank_count(), 8u);
  const std::string text = MemoryPlanText(planned);
  EXPECT_THAT(text, HasSubstr("2 hosts, 8 ranks in CPU memory"));
  EXPECT_THAT(text, HasSubstr("leads 0 1\n"));
  EXPECT_THAT(text, HasSubstr("leads 2 3\n"));
}

TEST(PlanMemoryTest, PrintsEveryChannelWithItsRing) {
  const MemoryPlan planned = PlanMemory(RequestFor(2), 4, {}).value();
  const std::uint32_t channels = planned.plan.channel_count();
  const auto json = nlohmann::json::parse(MemoryPlanJson(planned));
  EXPECT_EQ(json["ranks"], 8);
  EXPECT_EQ(json["hosts"], 2);
  EXPECT_EQ(json["final_channels"], channels);
  ASSERT_EQ(json["channels"].size(), channels);
  std::string told = channels == 1 ? "\n1 channel, " : fmt::format("\n{} channels, ", channels);
  told += fmt::format("{} GB/s together\n", json["total_gb_s"].get<double>());
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    const auto& one = json["channels"][channel];
    std::vector<std::uint32_t> order = one["order"];
    told += fmt::format("  {}: {} GB/s, ring {}\n", channel, one["bandwidth_gb_s"].get<double>(),
                        fmt::join(order, " "));
    std::ranges::sort(order);
    EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  }
  EXPECT_THAT(MemoryPlanText(planned), HasSubstr(told + "\nrank 0 leads its host"));
}

TEST(PlanMemoryTest, NamesTheFirstOfManyRanks) {
  PlanRequest request = RequestFor(1);
  request.machine.source.synthetic = "(numa: nic)";
  const auto leads = [&](std::uint32_t ranks) {
    const std::string text = MemoryPlanText(PlanMemory(request, ranks, {}).value());
    const auto at = text.find("  0 leads");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_THAT(leads(64), testing::EndsWith(" 62 63"));
  EXPECT_THAT(leads(65), testing::EndsWith(" 62 63 ..."));
}

TEST(PlanMemoryTest, DefaultsToOneRankPerProcessor) {
  EXPECT_EQ(PlanMemory(RequestFor(2), 0, {})->plan.rank_count(), 64u)
      << "sixteen of each NUMA node";
}

TEST(PlanMemoryTest, PlanningTimeLiesWithinTheCall) {
  const Instant start = os::Now();
  const MemoryPlan planned = PlanMemory(RequestFor(2), 4, {}).value();
  EXPECT_GE(planned.time, Instant(0));
  EXPECT_LE(planned.time, os::Now() - start);
}

TEST(PlanMemoryTest, TooManyRanksAndInvalidVariablesAreErrors) {
  EXPECT_EQ(PlanMemory(RequestFor(1000), 1'000'000, {}).error().code, Code::kUnsupported);
  EXPECT_THAT(PlanMemory(RequestFor(1), 2, {{"NCCL_ALGO", "wheel"}}).error().message,
              HasSubstr("\"wheel\""));
}

}  // namespace
}  // namespace ringlet::cli
