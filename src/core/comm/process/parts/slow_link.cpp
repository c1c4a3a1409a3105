#include "comm/process/parts/slow_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/value/text.hpp"

namespace ringlet::comm {
namespace {

using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;

constexpr std::string_view kLinkKey = "link=";
constexpr std::uint32_t kSlowestMillionths = 1000;
constexpr std::size_t kFractionDigits = 6;

Error BadSlowLink(std::string_view text) {
  return {Code::kInvalidArgument,
          fmt::format("{} is not link=NAME:FRACTION, such as link=NET2:0.1, with a fraction from "
                      "0.001 to 1; ringlet traffic lists the names of links",
                      Quoted(text))};
}

/// Reads "0.25" in millionths.
std::optional<std::uint32_t> ParseFraction(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(std::min(dot + 1, text.size())));
  if (digits.size() > kFractionDigits || (dot < text.size() && digits.empty())) return std::nullopt;
  digits.resize(kFractionDigits, '0');
  const auto whole = ParseDecimal(text.substr(0, dot)), part = ParseDecimal(digits);
  if (!whole || !part || *whole > 1) return std::nullopt;
  const std::uint64_t millionths = *whole * SlowLink::kWhole + *part;
  if (millionths < kSlowestMillionths || millionths > SlowLink::kWhole) return std::nullopt;
  return static_cast<std::uint32_t>(millionths);
}

std::optional<SlowLink> ParseOne(std::string_view text) {
  if (!text.starts_with(kLinkKey)) return std::nullopt;
  const std::string_view words = text.substr(kLinkKey.size());
  const std::size_t colon = words.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto fraction = ParseFraction(words.substr(colon + 1));
  const std::string_view named = words.substr(0, colon);
  const std::size_t at = std::min(named.find('@'), named.size());
  const std::string_view ends = named.substr(0, at);
  const std::size_t comma = std::min(ends.find(','), ends.size());
  SlowLink link{.first = std::string(ends.substr(0, comma)), .millionths = fraction.value_or(0)};
  if (comma < ends.size()) link.second = ends.substr(comma + 1);
  if (at < named.size()) link.host = named.substr(at + 1);
  const bool half = comma < ends.size() && link.second.empty();
  const bool nowhere = at < named.size() && link.host.empty();
  if (!fraction || link.first.empty() || half || nowhere) return std::nullopt;
  return link;
}

bool IsNamed(const Graph& graph, NodeIndex node, std::string_view name) {
  return std::ranges::any_of(NamesOfEnd(graph, node),
                             [&](const std::string& its) { return EqualIgnoringCase(its, name); });
}

}  // namespace

Result<std::vector<SlowLink>> ParseSlowLinks(std::string_view text) {
  std::vector<SlowLink> links;
  for (const std::string_view part : Split(text, ';')) {
    if (Trim(part).empty() && !links.empty()) continue;
    auto link = ParseOne(Trim(part));
    if (!link) return BadSlowLink(part);
    links.push_back(*std::move(link));
  }
  return links;
}

std::string ToText(const SlowLink& link) {
  std::string text = fmt::format("{}{}", kLinkKey, link.first);
  if (!link.second.empty()) text += "," + link.second;
  if (!link.host.empty()) text += "@" + link.host;
  return fmt::format("{}:{}.{:06}", text, link.millionths / SlowLink::kWhole,
                     link.millionths % SlowLink::kWhole);
}

bool IsBetween(const SlowLink& link, const Graph& graph, NodeIndex one, NodeIndex other) {
  const auto ends = [&](NodeIndex first, NodeIndex second) {
    return IsNamed(graph, first, link.first) &&
           (link.second.empty() || IsNamed(graph, second, link.second));
  };
  return ends(one, other) || ends(other, one);
}

std::vector<std::pair<NodeIndex, NodeIndex>> LinksOf(const Graph& graph) {
  const auto is_hardware = [&](NodeIndex node) {
    const NodeKind kind = graph.at(node).kind;
    return kind != NodeKind::kGin && kind != NodeKind::kRma && kind != NodeKind::kRank;
  };
  std::vector<std::pair<NodeIndex, NodeIndex>> links;
  for (std::uint32_t i = 0; i < graph.nodes().size(); ++i) {
    const NodeIndex from{i};
    if (!is_hardware(from)) continue;
    for (const topology::Link& link : graph.at(from).links)
      if (link.kind != topology::LinkKind::kLocal && Index(from) < Index(link.to) &&
          is_hardware(link.to))
        links.emplace_back(from, link.to);
  }
  return links;
}

std::vector<std::string> NamesOfEnd(const Graph& graph, NodeIndex node) {
  const topology::Node& one = graph.at(node);
  std::vector<std::string> names = {topology::NameOnHost(graph, node)};
  switch (one.kind) {
    case NodeKind::kDev: names.push_back(fmt::format("GPU{}", one.number)); [[fallthrough]];
    case NodeKind::kNet:
    case NodeKind::kNvs:
    case NodeKind::kCpu: names.push_back(fmt::format("{}{}", NameOf(one.kind), one.number)); break;
    case NodeKind::kGpu:
    case NodeKind::kPci:
    case NodeKind::kNic:
    case NodeKind::kGin:
    case NodeKind::kRma:
    case NodeKind::kCxb:
    case NodeKind::kRank: break;
  }
  return names;
}

}  // namespace ringlet::comm
