#include "tool/emulate/slow_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/value/text.hpp"
#include "tool/emulate/emulated_environment.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kNearestShown = 5;

/// Returns the names nearest to the typed one: ends of links, or links as "END,END".
std::vector<std::string> NearestNames(const topology::Graph& graph, const comm::SlowLink& link) {
  const std::string typed =
      link.second.empty() ? link.first : fmt::format("{},{}", link.first, link.second);
  std::set<std::string> names;
  for (const auto& [one, other] : comm::LinksOf(graph)) {
    const auto first = comm::NamesOfEnd(graph, one), second = comm::NamesOfEnd(graph, other);
    if (link.second.empty()) {
      names.insert(first.begin(), first.end());
      names.insert(second.begin(), second.end());
      continue;
    }
    for (const std::string& a : first)
      for (const std::string& b : second)
        names.insert({fmt::format("{},{}", a, b), fmt::format("{},{}", b, a)});
  }
  std::vector<std::string> sorted(names.begin(), names.end());
  std::ranges::stable_sort(sorted, {}, [&](const std::string& name) {
    return std::pair(EditDistance(typed, name), name.size());
  });
  sorted.resize(std::min(sorted.size(), kNearestShown));
  return sorted;
}

Status CheckName(const topology::Graph& graph, const comm::SlowLink& link,
                 const std::string& text) {
  for (const auto& [one, other] : comm::LinksOf(graph))
    if (comm::IsBetween(link, graph, one, other)) return Ok();
  return Error{
      Code::kInvalidArgument,
      fmt::format("--slow {}: the machine does not have that link; the nearest names are {}",
                  Quoted(text), fmt::join(NearestNames(graph, link), " "))};
}

Status CheckHost(const comm::SlowLink& link, const std::string& text, std::uint32_t hosts) {
  if (link.host.empty()) return Ok();
  const auto host = ParseDecimal(link.host);
  if (host && *host < hosts) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("--slow {}: host {} is not one of {}, which count from 0", Quoted(text),
                           Quoted(link.host), Counted(hosts, "host"))};
}

}  // namespace

Result<std::vector<comm::SlowLink>> ChooseSlowLinks(const std::vector<std::string>& texts,
                                                    const topology::HostView& view,
                                                    std::uint32_t hosts) {
  RINGLET_TRY_ASSIGN(const topology::Graph graph,
                     topology::Build(std::span(&view, 1), {}, {.gpus = topology::GpuRanks::kAll}));
  std::vector<comm::SlowLink> links;
  for (const std::string& text : texts) {
    auto parsed = comm::ParseSlowLinks(text);
    if (!parsed.ok()) return Error{parsed.error().code, "--slow: " + parsed.error().message};
    for (comm::SlowLink& link : *parsed) {
      RINGLET_TRY(CheckName(graph, link, text));
      RINGLET_TRY(CheckHost(link, text, hosts));
      links.push_back(std::move(link));
    }
  }
  return links;
}

std::string SlowSetting(std::vector<comm::SlowLink> links, std::uint32_t hosts,
                        std::string_view launch) {
  std::vector<std::string> texts;
  for (comm::SlowLink& link : links) {
    // A single host keeps the name of this computer.
    const auto host = ParseDecimal(link.host);
    link.host =
        host && hosts > 1 ? EmulatedHostName(static_cast<std::uint32_t>(*host), launch) : "";
    texts.push_back(ToText(link));
  }
  return fmt::format("{}", fmt::join(texts, ";"));
}

}  // namespace ringlet::cli
