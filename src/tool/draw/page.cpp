#include "tool/draw/page.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/value/text.hpp"
#include "tool/text/json_text.hpp"
#include "tool/topo/topo_path.hpp"
#include "tool/topo/topo_paths.hpp"

namespace ringlet::cli {
namespace {

using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;
using PageJson = nlohmann::ordered_json;

/// Returns GPUs and ports: the ends of the paths on a page.
std::vector<NodeIndex> EndsOf(const topology::Paths& paths) {
  std::vector<NodeIndex> ends = paths.Of(NodeKind::kGpu);
  const std::vector<NodeIndex>& nets = paths.Of(NodeKind::kNet);
  ends.insert(ends.end(), nets.begin(), nets.end());
  return ends;
}

/// Returns the node whose box represents an end.
NodeIndex BoxOfEnd(const Graph& graph, NodeIndex end) {
  if (graph.at(end).kind == NodeKind::kGpu) return graph.gpu(end).device;
  for (const topology::Link& link : graph.at(end).links)
    if (graph.at(link.to).kind == NodeKind::kNic) return link.to;
  return end;
}

PageJson PathsJson(const topology::Paths& paths, const std::vector<NodeIndex>& ends) {
  PageJson rows = PageJson::array();
  for (const NodeIndex from : ends) {
    PageJson row = PageJson::array();
    for (const NodeIndex to : ends) {
      if (from == to) {
        row.push_back(nullptr);
        continue;
      }
      PageJson nodes = PageJson::array({Index(from)});
      for (const topology::Hop& hop : paths.Route(from, to)) nodes.push_back(Index(hop.to));
      row.push_back({{"type", NameOf(paths.From(from, to).type)},
                     {"text", PathText(paths, from, to)},
                     {"nodes", std::move(nodes)}});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Returns the groups of lines in drawing order.
PageJson GroupsJson(const Drawing& drawing) {
  PageJson groups = PageJson::array();
  std::string last;
  for (const Polyline& line : drawing.lines) {
    if (line.group.empty() || line.group == last) continue;
    last = line.group;
    groups.push_back({{"name", line.group}, {"color", line.color}});
  }
  return groups;
}

PageJson MachineJson(const PageMachine& machine) {
  const Graph& graph = machine.paths.graph();
  const std::vector<NodeIndex> ends = EndsOf(machine.paths);
  PageJson json = {{"ends", PageJson::array()},
                   {"paths", PageJson::array()},
                   {"groups", GroupsJson(machine.drawing)},
                   {"findings", PageJson::array()}};
  for (const NodeIndex end : ends)
    json["ends"].push_back({{"label", LabelOf(graph, end)}, {"box", Index(BoxOfEnd(graph, end))}});
  if (ends.size() <= kPageEndsMax)
    json["paths"] = PathsJson(machine.paths, ends);
  else
    json["no_paths"] = fmt::format(
        "This page omits paths: the machine has {} GPUs and ports, and the limit is {}. ringlet "
        "topo path shows each path.",
        ends.size(), kPageEndsMax);
  for (const PageFinding& finding : machine.findings) {
    PageJson& one = json["findings"].emplace_back(PageJson{
        {"severity", SeverityName(finding.severity)}, {"text", finding.text}, {"node", nullptr}});
    if (finding.node) one["node"] = Index(*finding.node);
  }
  return json;
}

/// Escapes JSON so that no text in it can close the script element.
std::string ScriptText(const PageJson& json) {
  std::string text;
  for (const char letter : JsonText(json, JsonLayout::kLine)) {
    if (letter == '<')
      text += "\\u003c";
    else
      text += letter;
  }
  return text;
}

std::string SectionText(const PageMachine& machine) {
  return fmt::format(
      "<section class=\"machine\" style=\"--width: {:.0f}px\">\n<h2>{}</h2>\n"
      "<div class=\"picture\">{}</div>\n"
      "<div class=\"path\" role=\"status\" aria-live=\"polite\">no pair is picked</div>\n"
      "<div class=\"groups\"></div>\n<div class=\"findings\"></div>\n"
      "<h2>Paths</h2>\n<div class=\"pairs\"></div>\n</section>\n",
      std::ceil(machine.drawing.width), EscapedXml(machine.title), ToPageSvg(machine.drawing));
}

}  // namespace

std::string PageOf(const std::string& title, std::span<const PageMachine> machines,
                   const std::vector<std::string>* differences) {
  PageJson data = {{"machines", PageJson::array()}};
  std::string sections = "<div class=\"machines\">\n";
  for (const PageMachine& machine : machines) {
    data["machines"].push_back(MachineJson(machine));
    sections += SectionText(machine);
  }
  sections += "</div>\n<div id=\"differences\"></div>\n";
  if (differences != nullptr) data["differences"] = *differences;
  const std::map<std::string_view, std::string> places = {{"<!--TITLE-->", EscapedXml(title)},
                                                          {"<!--MACHINES-->", sections},
                                                          {"<!--DATA-->", ScriptText(data)}};
  std::string page;
  std::string_view rest = PageSource();
  for (std::size_t at = rest.find("<!--"); at != std::string_view::npos; at = rest.find("<!--")) {
    const std::size_t end = rest.find("-->", at) + 3;
    page += rest.substr(0, at);
    page += places.at(rest.substr(at, end - at));
    rest.remove_prefix(end);
  }
  return page.append(rest);
}

}  // namespace ringlet::cli
