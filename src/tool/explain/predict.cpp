#include "tool/explain/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/value/text.hpp"
#include "comm/machine/machine.hpp"
#include "comm/machine/prediction.hpp"
#include "os/process/env.hpp"
#include "tool/operation/operation_alias.hpp"
#include "tool/operation/size_units.hpp"
#include "tool/operation/sweep.hpp"
#include "tool/plan/plan_view.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kFlowsShown = 20;

struct PredictRequest {
  PlanRequest plan;
  std::string function = "all_reduce";
  std::string bytes = "1M";
  bool flows = false;
  bool json = false;
};

std::string OthersText(const plan::Tuning& tuning, plan::Function function, std::uint64_t bytes) {
  std::string text;
  for (std::size_t a = 0; a < plan::kAlgorithms; ++a)
    for (std::size_t p = 0; p < plan::kProtocols; ++p) {
      const auto algorithm = static_cast<plan::NcclAlgorithm>(a);
      const auto protocol = static_cast<plan::Protocol>(p);
      const auto time = tuning.TimeNs(function, algorithm, protocol, bytes);
      if (time)
        text += fmt::format("  {:>13} {:<6}  {:12.1f} us\n", NameOf(algorithm), NameOf(protocol),
                            static_cast<double>(*time) / 1000);
    }
  return text;
}

std::string PredictionText(const comm::Prediction& prediction) {
  return fmt::format(
      "{} of {} bytes on {} of {}: {} and {} on {} of {}\n"
      "  {:.1f} us, {:.2f} GB/s, {:.2f} GB/s on the bus of each rank\n",
      Name(prediction.kind), prediction.bytes, Counted(prediction.ranks, "rank"),
      Counted(prediction.hosts, "host"), NameOf(prediction.pick.algorithm),
      NameOf(prediction.pick.protocol), Counted(prediction.launch.channels, "channel"),
      Counted(prediction.launch.threads, "thread"), prediction.time_us(), prediction.algbw(),
      prediction.busbw());
}

std::string FlowsText(const comm::Flows& flows) {
  std::string text = fmt::format(
      "flows of {} and {} on {}:\n{:>4} {:<17} {:<17} {:<5} {:>7} {:>14} {:>12}\n",
      NameOf(flows.pick.algorithm), NameOf(flows.pick.protocol), Counted(flows.channels, "channel"),
      "host", "from", "to", "kind", "GB/s", "bytes", "time (us)");
  const std::size_t shown = std::min(flows.links.size(), kFlowsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const comm::LinkFlow& link = flows.links[i];
    text += fmt::format("{:>4} {:<17} {:<17} {:<5} {:>7} {:>14} {:>12.1f}\n", link.host, link.from,
                        link.to, NameOf(link.kind), GigabytesText(link.bandwidth), link.bytes,
                        link.time_us());
  }
  if (shown < flows.links.size())
    text += fmt::format("and {}\n", Counted(flows.links.size() - shown, "link that is less busy",
                                            "links that are less busy"));
  return text;
}

constexpr std::array<std::string_view, 5> kPredicted = {"all_reduce", "all_gather",
                                                        "reduce_scatter", "broadcast", "reduce"};

/// Treats a single word that is not an operation as the machine.
Result<PredictRequest> Settled(PredictRequest request) {
  const auto is_predicted = [&] {
    return std::ranges::count(kPredicted, OperationNamed(request.function)) > 0;
  };
  if (!is_predicted() && request.plan.machine.source.file.empty())
    request.plan.machine.source.file = std::exchange(request.function, "all_reduce");
  if (!is_predicted())
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not one of the predicted operations: {}",
                             Quoted(Printable(request.function, 64)), fmt::join(kPredicted, ", "))};
  request.function = OperationNamed(request.function);
  return request;
}

Result<int> Predict(const PredictRequest& given) {
  RINGLET_TRY_ASSIGN(const PredictRequest request, Settled(given));
  const auto kind = *collective::CallKindNamed(request.function);
  const auto function = *comm::FunctionOf(kind);
  RINGLET_TRY_ASSIGN(const std::uint64_t bytes, ParseSize(request.bytes));
  const EnvMap environment = os::ReadEnvironment();
  RINGLET_TRY_ASSIGN(PlanView view, MakePlanView(request.plan, environment));
  for (const std::string& missing : view.missing) PrintNote("predict", missing);
  RINGLET_TRY_ASSIGN(plan::TuningInput input, TuningInputOf(view, environment));
  plan::Tuning tuning(std::move(input), view.joined.plan.counts());
  comm::Prediction prediction{
      .kind = kind, .bytes = bytes, .ranks = view.ranks(), .hosts = view.hosts};
  RINGLET_TRY_ASSIGN(prediction.pick, tuning.Pick(function, bytes));
  prediction.launch = tuning.LaunchOf(prediction.pick, bytes);
  const std::string others = OthersText(tuning, function, bytes);
  if (request.flows) {
    RINGLET_TRY(comm::CheckFlows(view.ranks()));
    const plan::GpuPlan plan = GpuPlanOf(std::move(view), std::move(tuning));
    RINGLET_TRY_ASSIGN(prediction.flows, comm::FlowsOf(plan, kind, bytes));
  }
  if (request.json) {
    fmt::print("{}", comm::ToJson(prediction));
    return kExitDone;
  }
  fmt::print("{}{}", PredictionText(prediction), others);
  if (prediction.flows) fmt::print("{}", FlowsText(*prediction.flows));
  return kExitDone;
}

int Run(const PredictRequest& request) {
  const Result<int> status = Predict(request);
  return status.ok() ? *status : Fail("predict", status.error());
}

}  // namespace

void AddPredict(CLI::App& tool, Action& chosen) {
  CLI::App* predict = tool.add_subcommand(
      "predict", "Predict the time of a collective on GPUs by NCCL's cost model");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<PredictRequest>();
  predict
      ->add_option("FUNCTION", request->function,
                   "The operation: all_reduce, all_gather, reduce_scatter, broadcast or reduce")
      ->capture_default_str();
  AddPlanRequest(*predict, request->plan);
  predict->add_option("-b,--bytes", request->bytes, fmt::format("Size; {}", kSizeUnitsHelp))
      ->type_name(kSizeType)
      ->capture_default_str();
  predict->add_flag("--flows", request->flows,
                    "Show the bytes on each link for rings or trees, busiest link first");
  predict->add_flag("--json", request->json,
                    "One object: function, bytes, ranks, hosts, algorithm, protocol, channels, "
                    "threads, time_us, algbw, busbw; with --flows also flows (algorithm, protocol, "
                    "channels, time_us, links)");
  predict->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
