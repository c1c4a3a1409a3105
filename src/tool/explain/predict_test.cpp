#include "tool/explain/predict.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tool/plan/plan_view.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

// Source  NCCL 2.30's model of this machine: NVLSTree, 66.8 us and 246.2 GB/s.
TEST(PredictTest, TimeAndBandwidthFollowTheModel) {
  const ToolRun ran =
      RunCommand({"predict", "all_reduce", "--topo", Fixture("topo-vectors/nvswitch8-sm90.xml"),
                  "--hosts", "2", "-b", "64M", "--policy", "compat", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json["algorithm"], "NVLSTree");
  EXPECT_NEAR(json["time_us"], 66.8 + (64 << 20) / 246.2e3, 1);
  EXPECT_NEAR(json["busbw"].get<double>(), json["algbw"].get<double>() * 30 / 16, 0.01);
}

TEST(PredictTest, TextNamesTheChoiceAndTheAlternatives) {
  const ToolRun ran = RunCommand({"predict", "all_gather", Fixture("topo-vectors/pcie4-1nic.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("all_gather of 1048576 bytes on 4 ranks of 1 host: Ring"));
  EXPECT_THAT(ran.output, HasSubstr("on the bus of each rank"));
}

TEST(PredictTest, TextHasTheTimesOfTheModelInMicroseconds) {
  const std::string file = Fixture("topo-vectors/pcie4-1nic.xml");
  const ToolRun text = RunCommand({"predict", "all_reduce", file, "-b", "1G"});
  const ToolRun ran = RunCommand({"predict", "all_reduce", file, "-b", "1G", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  PlanRequest request;
  request.machine.source.file = file;
  const PlanView view = MakePlanView(request, {}).value();
  const plan::Tuning tuning(TuningInputOf(view, {}).value(), view.joined.plan.counts());
  const plan::TuningPick pick = tuning.Pick(plan::Function::kAllReduce, 1 << 30).value();
  const double us = std::chrono::duration<double, std::micro>(Instant(pick.time_ns)).count();
  EXPECT_NEAR(json["time_us"], us, 1e-6);
  EXPECT_NEAR(json["algbw"].get<double>(), (1 << 30) / (us * 1e3), 1e-6) << "bytes a nanosecond";
  EXPECT_THAT(text.output, HasSubstr(fmt::format("\n  {:.1f} us, ", us)));
  EXPECT_THAT(text.output,
              HasSubstr(fmt::format("{:>13} {:<6}  {:12.1f} us\n", NameOf(pick.algorithm),
                                    NameOf(pick.protocol), us)))
      << "among the others as well";
}

TEST(PredictTest, AcceptsOperationNamesOfOtherTools) {
  const std::string file = Fixture("topo-vectors/pcie4-1nic.xml");
  const std::string expected = RunCommand({"predict", "all_reduce", file}).output;
  EXPECT_EQ(RunCommand({"predict", "allreduce", file}).output, expected);
  EXPECT_EQ(RunCommand({"predict", file}).output, expected);
  const ToolRun wrong = RunCommand({"predict", "gather", file});
  EXPECT_EQ(wrong.status, kExitUsage);
  EXPECT_THAT(wrong.errors, HasSubstr("\"gather\" is not one of the predicted operations"));
}

TEST(PredictTest, EveryFunctionHasItsNameInBench) {
  for (const char* function :
       {"broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce"}) {
    const ToolRun ran =
        RunCommand({"predict", function, "--json", Fixture("topo-vectors/pcie4-1nic.xml")});
    ASSERT_EQ(ran.status, 0) << ran.errors;
    const auto json = nlohmann::json::parse(ran.output);
    EXPECT_EQ(json["function"], function);
    EXPECT_GT(json["time_us"], 0.0) << function;
  }
}

TEST(PredictTest, FlowsListTheBytesOfEveryLinkOfThePlan) {
  const std::string file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  const std::vector<std::string> words = {"predict", "all_reduce", file,     "--hosts", "2", "-b",
                                          "64M",     "--policy",   "compat", "--flows"};
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const ToolRun ran = RunCommand(as_json);
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json["algorithm"], "NVLSTree");
  const auto& flows = json["flows"];
  EXPECT_THAT((std::vector<std::string>{"Ring", "Tree"}),
              testing::Contains(flows["algorithm"].get<std::string>()));
  std::uint64_t left = 0;
  std::map<std::string, std::uint64_t> ports;
  for (const auto& link : flows["links"]) {
    const auto bytes = link["bytes"].get<std::uint64_t>();
    if (link["from"].get<std::string>().starts_with("DEV/")) left += bytes;
    if (link["to"].get<std::string>().starts_with("NET/")) ports[link["host"].dump()] += bytes;
  }
  EXPECT_EQ(left, 2u * 15 * (64 << 20));
  EXPECT_THAT(ports, testing::SizeIs(2)) << "data leave both hosts";
  const ToolRun text = RunCommand(words);
  EXPECT_THAT(text.output, HasSubstr("flows of " + flows["algorithm"].get<std::string>()));
  EXPECT_THAT(text.output, HasSubstr("links that are less busy"));
  EXPECT_FALSE(nlohmann::json::parse(RunCommand({"predict", "all_reduce", file, "--json"}).output)
                   .contains("flows"));
  EXPECT_THAT(RunCommand({"predict", "all_reduce", file, "--hosts", "513", "--flows"}).errors,
              HasSubstr("flows of 4104 ranks are too many"));
}

TEST(PredictTest, NodesOfOneHostShareItsLinks) {
  const ToolRun ran =
      RunCommand({"predict", "all_reduce", Fixture("topo-vectors/pcie16-4persw.xml"), "--hosts",
                  "2", "-b", "64M", "--flows", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  std::set<std::vector<std::string>> links;
  std::uint64_t left = 0;
  const auto json = nlohmann::json::parse(ran.output);
  for (const auto& link : json["flows"]["links"]) {
    EXPECT_TRUE(links.insert({link["host"].dump(), link["from"], link["to"]}).second) << link;
    EXPECT_LT(link["host"], 2);
    if (link["from"].get<std::string>().starts_with("DEV/"))
      left += link["bytes"].get<std::uint64_t>();
  }
  EXPECT_EQ(left, 2u * 31 * (64 << 20));
}

TEST(PredictTest, NamesWrongArguments) {
  const std::string file = Fixture("topo-vectors/pcie4-1nic.xml");
  EXPECT_THAT(RunCommand({"predict", "all_reverse", file}).errors,
              HasSubstr("\"all_reverse\" is not one of the predicted operations: all_reduce,"));
  EXPECT_EQ(RunCommand({"predict", "all_reduce", file, "-b", "much"}).status, kExitUsage);
}

}  // namespace
}  // namespace ringlet::cli
