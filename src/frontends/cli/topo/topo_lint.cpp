#include "frontends/cli/topo/topo_lint.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "frontends/cli/json_text.hpp"
#include "frontends/cli/plural.hpp"
#include "frontends/cli/topo/topo_source.hpp"
#include "frontends/cli/value_types.hpp"
#include "topology/lint/lint.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kOfARuleMax = 5;

struct LintOptions {
  std::string file;
  bool json = false;
  bool strict = false;
  bool all = false;
};

nlohmann::ordered_json FindingsJson(const std::vector<topology::Finding>& findings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const topology::Finding& finding : findings) {
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

std::string Summary(const std::vector<topology::Finding>& findings) {
  std::array<std::size_t, 3> counts = {};
  for (const topology::Finding& finding : findings)
    ++counts[static_cast<std::size_t>(finding.severity)];
  return fmt::format("{}, {}, {}", Counted(counts[2], "error"), Counted(counts[1], "warning"),
                     Counted(counts[0], "note"));
}

int Run(const LintOptions& options) {
  const Result<std::string> text = ReadUserFile(options.file, topology::kXmlBytesMax);
  if (!text.ok()) return Fail("topo lint", text.error());
  const topology::LintReport report = topology::LintXml(*text, options.file);
  if (options.json) {
    fmt::print("{}", JsonText(FindingsJson(report.findings)));
  } else {
    fmt::print("{}{}: {}\n",
               ToText(report.findings, options.all ? report.findings.size() : kOfARuleMax),
               options.file, Summary(report.findings));
  }
  const bool warned = std::any_of(
      report.findings.begin(), report.findings.end(),
      [](const auto& finding) { return finding.severity == topology::Severity::kWarning; });
  return HasError(report.findings) || (options.strict && warned) ? kExitFailed : kExitDone;
}

}  // namespace

void AddTopoLint(CLI::App& topo, Action& chosen) {
  CLI::App* lint = topo.add_subcommand("lint", "Say what is wrong with a topology file");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto options = std::make_shared<LintOptions>();
  lint->add_option("FILE", options->file, "An NCCL topology file; - is standard input")
      ->required()
      ->type_name(kFileType);
  lint->add_flag("--json", options->json,
                 "A list of objects: severity, rule, file, line, column, path, reason, cure");
  lint->add_flag("--strict", options->strict, "Exit with 1 for warnings too, not for errors alone");
  lint->add_flag("--all", options->all,
                 fmt::format("Show all findings of a rule, not the first {}", kOfARuleMax));
  lint->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
