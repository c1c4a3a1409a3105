#include "comm/machine/prediction.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "comm/machine/machine.hpp"
#include "comm/machine/machines_for_test.hpp"
#include "os/fs/conf_files.hpp"

namespace ringlet::comm {
namespace {

using collective::CallKind;
using nlohmann::json;
using testing::HasSubstr;

plan::GpuPlan PlanOf(std::uint32_t hosts, const EnvMap& environment) {
  std::vector<topology::HostView> views;
  std::uint32_t rank = 0;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    views.push_back(topology::ParseSynthetic(kFourGpus).value());
    views.back().identity = host + 1;
    for (topology::Gpu& gpu : views.back().gpus) gpu.rank = rank++;
  }
  const Settings settings = os::ReadSettings(environment).value();
  return plan::PlanGpus(views, GpuPlanOptionsOf(settings).value()).value();
}

std::uint64_t BytesFrom(const Flows& flows, std::string_view start) {
  std::uint64_t bytes = 0;
  for (const LinkFlow& link : flows.links)
    if (link.from.starts_with(start)) bytes += link.bytes;
  return bytes;
}

TEST(PredictionTest, ARingMovesTheExpectedBytesOfEachFunction) {
  const plan::GpuPlan plan = PlanOf(2, {{"NCCL_ALGO", "Ring"}});
  constexpr std::uint64_t kBytes = 64 << 20;
  const auto left = [&](CallKind kind) {
    return BytesFrom(FlowsOf(plan, kind, kBytes).value(), "DEV/");
  };
  EXPECT_EQ(left(CallKind::kAllReduce), 2 * 7 * kBytes);
  EXPECT_EQ(left(CallKind::kAllGather), 7 * kBytes);
  EXPECT_EQ(left(CallKind::kReduceScatter), 7 * kBytes);
  EXPECT_EQ(left(CallKind::kBroadcast), 7 * kBytes);
  EXPECT_EQ(left(CallKind::kReduce), 7 * kBytes);
}

TEST(PredictionTest, LinksAreSortedByTime) {
  const Flows flows = FlowsOf(PlanOf(2, {}), CallKind::kAllReduce, 64 << 20).value();
  ASSERT_GT(flows.links.size(), 8u);
  for (std::size_t i = 1; i < flows.links.size(); ++i)
    EXPECT_GE(flows.links[i - 1].time_us(), flows.links[i].time_us());
  for (const LinkFlow& link : flows.links) {
    EXPECT_LT(link.host, 2u);
    EXPECT_GT(link.bandwidth.mb_per_s, 0u);
  }
}

using ByLink = std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t>;

class PredictionOnMachine : public OnMachine {
 protected:
  /// Returns the bytes that eight ranks on two hosts have measured.
  ByLink Measured(const EnvMap& more, std::size_t count) const {
    EnvMap environment = more;
    environment["RINGLET_TRAFFIC_DIR"] = PathOf("traffic");
    RunOn(2, 8, environment, [&](std::uint32_t, auto communicator) {
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      EXPECT_TRUE(SumOfRanks(**communicator, count).ok());
    });
    ByLink links;
    for (const auto& entry : std::filesystem::directory_iterator(PathOf("traffic"))) {
      const json file = json::parse(std::ifstream(entry.path()));
      for (const json& link : file["links"])
        links[{link["host"], link["from"], link["to"]}] += link["measured_bytes"].get<unsigned>();
      std::filesystem::remove(entry.path());
    }
    return links;
  }
};

TEST_F(PredictionOnMachine, AnEmulatedRunMeasuresThePredictedBytes) {
  constexpr std::size_t kCount = 1 << 16;
  for (const char* const algorithm : {"Ring", "Tree"}) {
    const ByLink measured = Measured({{"NCCL_ALGO", algorithm}}, kCount);
    const plan::GpuPlan plan =
        PlanOf(2, {{"NCCL_ALGO", algorithm}, {"RINGLET_PLAN_POLICY", "compat"}});
    const Flows flows = FlowsOf(plan, CallKind::kAllReduce, kCount * 4).value();
    EXPECT_EQ(NameOf(flows.pick.algorithm), algorithm);
    const auto identity = [](std::uint32_t host) {
      return fmt::format("{:016x}", topology::HostIdentity("", "", fmt::format("host-{}", host)));
    };
    ByLink predicted;
    for (const LinkFlow& link : flows.links)
      predicted[{identity(link.host), link.from, link.to}] += link.bytes;
    EXPECT_EQ(predicted, measured) << algorithm;
  }
}

TEST(PredictionTest, JsonContainsTheChoiceAndItsFlows) {
  const std::string xml = ToXml(topology::ParseSynthetic(kFourGpus).value());
  const json predicted = json::parse(
      PredictionJson({.xml = xml, .hosts = 2, .operation = "all_reduce", .bytes = 1 << 20})
          .value());
  EXPECT_EQ(predicted["ranks"], 8);
  EXPECT_EQ(predicted["hosts"], 2);
  EXPECT_GT(predicted["time_us"], 0.0);
  EXPECT_NEAR(predicted["busbw"].get<double>(), predicted["algbw"].get<double>() * 14 / 8, 1e-9);
  const json& links = predicted["flows"]["links"];
  ASSERT_FALSE(links.empty());
  EXPECT_NEAR(links[0]["time_us"].get<double>(),
              links[0]["bytes"].get<double>() / links[0]["mb_per_s"].get<double>(), 1e-9);
  const json short_one = json::parse(
      PredictionJson({.xml = xml, .operation = "all_reduce", .bytes = 1 << 20, .flows = false})
          .value());
  EXPECT_FALSE(short_one.contains("flows"));
}

TEST(PredictionTest, ErrorsNameTheWrongArgument) {
  const std::string xml = ToXml(topology::ParseSynthetic(kFourGpus).value());
  const auto why = [](const PredictionRequest& request) {
    return PredictionJson(request).error().message;
  };
  EXPECT_THAT(why({.xml = xml, .operation = "all_reverse", .bytes = 8}), HasSubstr("all_reverse"));
  EXPECT_THAT(why({.xml = xml, .operation = "barrier", .bytes = 8}), HasSubstr("barrier"));
  EXPECT_THAT(why({.xml = "<x", .name = "mine.xml", .operation = "reduce", .bytes = 8}),
              HasSubstr("mine.xml"));
  EXPECT_THAT(why({.xml = xml, .hosts = 0, .operation = "reduce", .bytes = 8}), HasSubstr("hosts"));
  EXPECT_THAT(why({.xml = xml, .hosts = 1025, .operation = "reduce", .bytes = 8}),
              HasSubstr("4100 GPUs on 1025 hosts"));
  EXPECT_THAT(why({.xml = xml, .operation = "reduce", .bytes = 0}), HasSubstr("bytes"));
  EXPECT_EQ(CheckFlows(kFlowRanksMax + 1).error().code, Code::kUnsupported);
  EXPECT_THAT(FlowsOf(PlanOf(1, {{"NCCL_ALGO", "NVLS"}}), CallKind::kAllReduce, 8).error().message,
              HasSubstr("neither rings nor trees"));
}

}  // namespace
}  // namespace ringlet::comm
