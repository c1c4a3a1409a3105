#include "frontends/cli/explain/predict.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "frontends/cli/bench/bench_operation.hpp"
#include "frontends/cli/bench/sweep.hpp"
#include "frontends/cli/json_text.hpp"
#include "frontends/cli/plan/plan_view.hpp"
#include "frontends/cli/plural.hpp"
#include "frontends/cli/size_units.hpp"
#include "frontends/cli/value_types.hpp"
#include "os/process/env.hpp"

namespace ringlet::cli {
namespace {

struct PredictRequest {
  PlanRequest plan;
  std::string function = "all_reduce";
  std::string bytes = "1M";
  bool json = false;
};

// As `ringlet bench` calls them.
Result<plan::Function> FunctionCalled(const std::string& name) {
  constexpr std::array<std::string_view, plan::kFunctions> kNames = {
      "broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<plan::Function>(i);
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not one of broadcast, reduce, all_gather, reduce_scatter, "
                           "all_reduce",
                           Quoted(name))};
}

int Run(const PredictRequest& request) {
  const auto function = FunctionCalled(request.function);
  if (!function.ok()) return Fail("predict", function.error());
  const auto bytes = ParseSize(request.bytes);
  if (!bytes.ok()) return Fail("predict", bytes.error());
  const EnvMap environment = os::ReadEnvironment();
  const Result<PlanView> view = MakePlanView(request.plan, environment);
  if (!view.ok()) return Fail("predict", view.error());
  for (const std::string& missing : view->missing) Tell("predict", missing);
  Result<plan::TuningInput> input = TuningInputOf(*view, environment);
  if (!input.ok()) return Fail("predict", input.error());
  const plan::Tuning tuning(*std::move(input), view->joined.plan.channel_count());
  const auto pick = tuning.Pick(*function, *bytes);
  if (!pick.ok()) return Fail("predict", pick.error());
  const plan::TuningLaunch launch = tuning.LaunchOf(*pick, *bytes);
  const double us = static_cast<double>(pick->time_ns) / 1000;
  const double algbw = static_cast<double>(*bytes) / us / 1000;
  const double busbw =
      algbw * BusFactor(*collective::CallKindNamed(request.function), view->ranks());
  if (request.json) {
    const nlohmann::ordered_json json = {{"function", request.function},
                                         {"bytes", *bytes},
                                         {"ranks", view->ranks()},
                                         {"hosts", view->hosts},
                                         {"algorithm", NameOf(pick->algorithm)},
                                         {"protocol", NameOf(pick->protocol)},
                                         {"channels", launch.channels},
                                         {"threads", launch.threads},
                                         {"time_us", us},
                                         {"algbw", algbw},
                                         {"busbw", busbw}};
    fmt::print("{}", JsonText(json));
    return kExitDone;
  }
  fmt::print(
      "{} of {} bytes on {} of {}: {} and {} on {} of {}\n"
      "  {:.1f} us, {:.2f} GB/s, {:.2f} GB/s on the bus of each rank\n",
      request.function, *bytes, Counted(view->ranks(), "rank"), Counted(view->hosts, "host"),
      NameOf(pick->algorithm), NameOf(pick->protocol), Counted(launch.channels, "channel"),
      Counted(launch.threads, "thread"), us, algbw, busbw);
  for (std::size_t a = 0; a < plan::kAlgorithms; ++a)
    for (std::size_t p = 0; p < plan::kProtocols; ++p) {
      const auto algorithm = static_cast<plan::NcclAlgorithm>(a);
      const auto protocol = static_cast<plan::Protocol>(p);
      const auto time = tuning.TimeNs(*function, algorithm, protocol, *bytes);
      if (time)
        fmt::print("  {:>13} {:<6}  {:12.1f} us\n", NameOf(algorithm), NameOf(protocol),
                   static_cast<double>(*time) / 1000);
    }
  return kExitDone;
}

}  // namespace

void AddPredict(CLI::App& tool, Action& chosen) {
  CLI::App* predict = tool.add_subcommand(
      "predict", "Predict how long a collective on GPUs takes, by NCCL's cost model");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto request = std::make_shared<PredictRequest>();
  predict->add_option("FUNCTION", request->function, "The operation")
      ->check(CLI::IsMember({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"}))
      ->capture_default_str();
  AddPlanRequest(*predict, request->plan);
  predict->add_option("-b,--bytes", request->bytes, fmt::format("Size; {}", kSizeUnitsHelp))
      ->type_name(kSizeType)
      ->capture_default_str();
  predict->add_flag("--json", request->json,
                    "One object: function, bytes, ranks, hosts, algorithm, protocol, channels, "
                    "threads, time_us, algbw, busbw");
  predict->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
