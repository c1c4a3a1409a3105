#include "tool/plan/plan_compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/plan/plan_report.hpp"
#include "tool/text/json_text.hpp"

namespace ringlet::cli {
namespace {

using plan::GraphId;
using plan::PatternGraph;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLabelWidth = 18;

std::string RowOf(std::string_view label, const std::string& without, const std::string& with) {
  constexpr std::size_t kColumnWidth = 28;
  return fmt::format("  {:<{}}{:<{}}{}\n", label, kLabelWidth, without, kColumnWidth, with);
}

std::string ChannelsOf(const PatternGraph& graph) {
  if (graph.channels.empty()) return "none";
  const auto each = static_cast<std::uint32_t>(graph.total().mb_per_s / graph.channels.size());
  return fmt::format("{} x {} GB/s", graph.channels.size(), GigabytesText({each}));
}

std::string TotalOf(const PatternGraph& graph) {
  return fmt::format("{} GB/s", GigabytesText(graph.total()));
}

/// Formats a gain, "+100 %"; "" if the first plan has zero bandwidth.
std::string DifferenceText(const PatternGraph& without, const PatternGraph& with) {
  if (without.total().mb_per_s == 0) return "";
  const double before = without.total().mb_per_s, after = with.total().mb_per_s;
  return fmt::format(" ({:+.1f} %)", 100.0 * (after - before) / before);
}

std::string GraphRows(GraphId id, const BoundedPlan& without, const BoundedPlan& with) {
  const PatternGraph& before = without.view.classes.front().plan.of(id);
  const PatternGraph& after = with.view.classes.front().plan.of(id);
  if (before.channels.empty() && after.channels.empty()) return "";
  std::string text = fmt::format("\n{}\n", NameOf(id));
  text += RowOf("channels", ChannelsOf(before), ChannelsOf(after));
  text += RowOf("together", TotalOf(before), TotalOf(after) + DifferenceText(before, after));
  return text + RowOf("no plan exceeds", fmt::format("{} GB/s", GigabytesText(before.bound)),
                      fmt::format("{} GB/s", GigabytesText(after.bound)));
}

}  // namespace

std::string CompareText(const std::vector<std::string>& changes, const BoundedPlan& without,
                        const BoundedPlan& with) {
  std::string text =
      fmt::format("{}, policy {}\n", without.view.title, NameOf(without.view.policy));
  for (const std::string& change : changes) text += fmt::format("what if: {}\n", change);
  text += "\n" + RowOf("", "without", "with");
  text +=
      RowOf("ranks", fmt::format("{}", without.view.ranks()), fmt::format("{}", with.view.ranks()));
  for (const GraphId id : {GraphId::kRing, GraphId::kTree, GraphId::kNvls})
    text += GraphRows(id, without, with);
  return text + fmt::format("\nwithout: {}\nwith:    {}\n", LimitedByText(without.bounds.ring),
                            LimitedByText(with.bounds.ring));
}

std::string CompareJson(const std::vector<std::string>& changes, const BoundedPlan& without,
                        const BoundedPlan& with) {
  return JsonText(Json{{"what_if", changes},
                       {"without", PlanJson(without.view, &without.bounds)},
                       {"with", PlanJson(with.view, &with.bounds)}});
}

}  // namespace ringlet::cli
