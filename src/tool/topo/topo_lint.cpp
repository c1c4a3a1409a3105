#include "tool/topo/topo_lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tool/input/machine_folder.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"
#include "tool/topo/graph_lint.hpp"
#include "topo/lint/element_count.hpp"
#include "topo/lint/lint.hpp"

namespace ringlet::cli {
namespace {

using topology::Finding;
using topology::Severity;

constexpr std::size_t kOfARuleMax = 5;
constexpr std::uint32_t kLintRanksMax = 1024;

struct LintOptions {
  std::vector<std::string> files;
  std::string graph;
  std::uint32_t ranks = 0;
  bool json = false;
  bool strict = false;
  bool all = false;
  bool pre_commit = false;
};

nlohmann::ordered_json FindingsJson(const std::vector<Finding>& findings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    json.push_back({{"severity", topology::SeverityName(finding.severity)},
                    {"rule", finding.rule},
                    {"file", finding.file},
                    {"line", finding.at.line},
                    {"column", finding.at.column},
                    {"path", finding.path},
                    {"reason", finding.reason},
                    {"cure", finding.cure}});
  }
  return json;
}

std::string Summary(const std::vector<Finding>& findings) {
  std::array<std::size_t, 3> counts = {};
  for (const Finding& finding : findings) ++counts[static_cast<std::size_t>(finding.severity)];
  return fmt::format("{}, {}, {}", Counted(counts[2], "error"), Counted(counts[1], "warning"),
                     Counted(counts[0], "note"));
}

/// Predicts the fused elements for the number of ranks that the user named on this host.
Finding FusedFinding(const topology::HostView& view, const std::string& file, std::uint32_t ranks) {
  const topology::FusedCount count = topology::PredictFused(view, ranks);
  const bool fits = count.elements <= topology::kNcclElementsMax;
  return {.severity = fits ? Severity::kNote : Severity::kError,
          .rule = fits ? "fused" : "too-many-fused",
          .file = file,
          .at = {},
          .path = "system",
          .reason = fmt::format("{} on one host fuse to {} elements, or {} if each sees the NICs "
                                "differently; NCCL accepts {}",
                                Counted(ranks, "rank"), count.elements, count.at_worst,
                                topology::kNcclElementsMax),
          .cure = fits ? "" : "remove NICs that no job uses, or use fewer ranks per host"};
}

Result<std::vector<Finding>> FindingsOf(const std::string& file, const LintOptions& options) {
  RINGLET_TRY_ASSIGN(const std::string text, ReadMachineText(file));
  if (options.pre_commit && !LooksLikeTopology(text)) return std::vector<Finding>();
  topology::LintReport report = topology::LintXml(text, file);
  if (!report.view) return std::move(report.findings);
  if (options.ranks > 0) {
    std::erase_if(report.findings,
                  [](const Finding& finding) { return finding.rule == "too-many-fused"; });
    report.findings.push_back(FusedFinding(*report.view, file, options.ranks));
  }
  if (!options.graph.empty()) {
    RINGLET_TRY_ASSIGN(const std::string graph,
                       ReadUserFile(options.graph, topology::kXmlBytesMax));
    const std::vector<Finding> more = LintGraph(*report.view, graph, options.graph);
    report.findings.insert(report.findings.end(), more.begin(), more.end());
  }
  return std::move(report.findings);
}

bool IsBad(const std::vector<Finding>& findings, bool strict) {
  const auto warned = std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::kWarning; });
  return HasError(findings) || (strict && warned);
}

int Run(const LintOptions& options) {
  std::vector<Finding> all;
  std::string texts;
  bool is_bad = false;
  for (const std::string& file : options.files) {
    Result<std::vector<Finding>> findings = FindingsOf(file, options);
    if (!findings.ok()) return Fail("topo lint", findings.error());
    is_bad = is_bad || IsBad(*findings, options.strict);
    if (options.pre_commit)
      std::erase_if(*findings,
                    [](const Finding& finding) { return finding.severity == Severity::kNote; });
    texts += ToText(*findings, options.all ? findings->size() : kOfARuleMax);
    if (!options.pre_commit) texts += fmt::format("{}: {}\n", file, Summary(*findings));
    all.insert(all.end(), findings->begin(), findings->end());
  }
  fmt::print("{}", options.json ? JsonText(FindingsJson(all)) : texts);
  return is_bad ? kExitFailed : kExitDone;
}

}  // namespace

void AddTopoLint(CLI::App& topo, Action& chosen) {
  CLI::App* lint = topo.add_subcommand("lint", "Find errors in a topology file");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<LintOptions>();
  lint->add_option("FILE", options->files, "NCCL topology files; - is standard input")
      ->required()
      ->type_name(kFileType);
  lint->add_option("--graph", options->graph,
                   "Graph file (NCCL_GRAPH_FILE) to check against the topology file")
      ->type_name(kFileType);
  lint->add_option(
          "--ranks", options->ranks,
          "Predict the number of elements that NCCL fuses for this number of ranks on the host")
      ->check(CLI::Range(1u, kLintRanksMax));
  lint->add_flag("--json", options->json,
                 "A list of objects: severity, rule, file, line, column, path, reason, cure");
  lint->add_flag("--strict", options->strict, "Exit with 1 for warnings too, not only for errors");
  lint->add_flag("--all", options->all,
                 fmt::format("Show all findings of a rule, not only the first {}", kOfARuleMax));
  lint->add_flag(
      "--pre-commit", options->pre_commit,
      "For the hook: print findings without notes, and skip XML files that are not topologies");
  lint->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
