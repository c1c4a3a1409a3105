#include "tool/input/topo_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "discovery/scan.hpp"
#include "os/fs/conf_files.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/env.hpp"
#include "tool/input/machine_folder.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"
#include "topo/edit/synthetic.hpp"
#include "topo/lint/lint.hpp"
#include "topo/lint/nccl_dialect.hpp"
#include "topology/graph/port_rules.hpp"
#include "topology_api/named_file.hpp"
#include "topology_api/this_host.hpp"

namespace ringlet::cli {
namespace {

LoadedTopology Plain(std::string title, topology::HostView view,
                     std::vector<std::string> missing = {}) {
  return {.title = std::move(title),
          .view = std::move(view),
          .findings = {},
          .positions = {},
          .missing = std::move(missing)};
}

Result<LoadedTopology> Captured(const std::string& root) {
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open(root));
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, discovery::Scan(files, {}));
  return Plain(root, std::move(scan.view), std::move(scan.missing));
}

Result<LoadedTopology> ThisMachine(const Settings& settings) {
  RINGLET_TRY_ASSIGN(topology::ThisHost host, topology::ReadThisHost(settings));
  LoadedTopology loaded = Plain("this machine", std::move(host.view), std::move(host.missing));
  if (!host.file.empty()) loaded.title += fmt::format(", with {} of TOPO_FILE", host.file);
  return loaded;
}

Result<LoadedTopology> FromFile(const std::string& path) {
  RINGLET_TRY_ASSIGN(const std::string text, ReadMachineText(path));
  topology::XmlReading reading = topology::ReadXml(text, path);
  if (!reading.view) return topology::ViewFromXml(text, path).error();
  const std::vector<topology::Finding> dialect = topology::LintDialect(text, path);
  reading.findings.insert(reading.findings.end(), dialect.begin(), dialect.end());
  return LoadedTopology{.title = path == "-" ? "standard input" : path,
                        .view = *std::move(reading.view),
                        .findings = std::move(reading.findings),
                        .positions = std::move(reading.positions),
                        .missing = {}};
}

/// Warns that a plan of a file with errors may not match a real machine; "" without errors.
std::string ErrorsText(const std::string& file, const LoadedTopology& loaded) {
  if (file.empty()) return "";
  const auto is_error = [](const topology::Finding& finding) {
    return finding.severity == topology::Severity::kError;
  };
  const std::vector<topology::Finding> more = topology::Lint(loaded.view, loaded.positions, file);
  const auto errors = static_cast<std::size_t>(std::ranges::count_if(loaded.findings, is_error) +
                                               std::ranges::count_if(more, is_error));
  if (errors == 0) return "";
  return fmt::format("{} has {}, so it may not describe a real machine; see: ringlet topo lint {}",
                     loaded.title, Counted(errors, "error"), file);
}

Result<std::string> ReadStandardInput(std::size_t bytes_max) {
  constexpr std::size_t kPieceBytes = 65'536;
  std::string text, piece(kPieceBytes, '\0');
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), stdin)) {
    text.append(piece, 0, got);
    if (text.size() > bytes_max)
      return Error{Code::kUnsupported,
                   fmt::format("standard input has more than {} bytes", bytes_max)};
  }
  if (std::ferror(stdin) != 0) return Error{Code::kSystem, "standard input cannot be read"};
  return text;
}

}  // namespace

void AddTopoSource(CLI::App& command, TopoSource& source) {
  CLI::Option* file = command
                          .add_option("FILE", source.file,
                                      "NCCL topology file, or a named machine of ringlet emulate "
                                      "--list-machines; - is standard input; default: this machine")
                          ->type_name(kFileType);
  CLI::Option* root =
      command
          .add_option("--root", source.root, "Folder with the /sys and /proc of another machine")
          ->excludes(file)
          ->type_name(kFolderType);
  command
      .add_option("--synthetic", source.synthetic,
                  "A machine in words, such as \"2x(numa: 2x(switch: 2 gpu, 1 nic))\"")
      ->type_name(kMachineType)
      ->excludes(file)
      ->excludes(root);
}

Result<LoadedTopology> LoadTopology(const TopoSource& source) {
  if (!source.file.empty()) return FromFile(source.file);
  if (!source.root.empty()) return Captured(source.root);
  if (source.synthetic.empty()) {
    RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(os::ReadEnvironment()));
    return ThisMachine(settings);
  }
  RINGLET_TRY_ASSIGN(topology::HostView view, topology::ParseSynthetic(source.synthetic));
  return Plain(source.synthetic, std::move(view));
}

Result<LoadedTopology> LoadPlanned(const TopoSource& source, const Settings& settings,
                                   const ViewEdit& edit) {
  RINGLET_TRY_ASSIGN(const topology::PortRules rules, topology::ReadPortRules(settings));
  RINGLET_TRY_ASSIGN(LoadedTopology loaded, LoadTopology(source));
  if (edit) {
    RINGLET_TRY_ASSIGN(loaded.view, edit(std::move(loaded.view)));
  }
  std::vector<std::string> told;
  if (std::string errors = ErrorsText(source.file, loaded); !errors.empty())
    told.push_back(std::move(errors));
  told.insert(told.end(), loaded.missing.begin(), loaded.missing.end());
  if (std::string hint = SkeletonHint(loaded.view); !hint.empty()) told.push_back(std::move(hint));
  RINGLET_TRY_ASSIGN(topology::PlannedPorts ports,
                     topology::ApplyPortRules(std::move(loaded.view), rules));
  loaded.view = std::move(ports.view);
  for (std::string& note : ports.notes)
    if (note.starts_with("merged as in NCCL"))
      loaded.merged = std::move(note);
    else
      told.push_back(std::move(note));
  loaded.missing = std::move(told);
  return loaded;
}

std::string SkeletonHint(const topology::HostView& view) {
  const auto gpus = std::count_if(view.pci.begin(), view.pci.end(), [](const auto& device) {
    return device.device_class && device.device_class->role() == topology::PciRole::kGpu;
  });
  if (gpus == 0 || !view.gpus.empty()) return "";
  return fmt::format("ignored: {} with only a PCI function; ringlet topo complete fills them in",
                     Counted(static_cast<std::uint64_t>(gpus), "GPU"));
}

Result<std::string> ReadUserFile(const std::string& path, std::size_t bytes_max) {
  if (path == "-") return ReadStandardInput(bytes_max);
  return topology::ReadNamedFile(path, bytes_max);
}

}  // namespace ringlet::cli
