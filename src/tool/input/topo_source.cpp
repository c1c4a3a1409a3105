#include "tool/input/topo_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "discovery/fill.hpp"
#include "discovery/nvml.hpp"
#include "discovery/scan.hpp"
#include "discovery/topology_file.hpp"
#include "os/fs/conf_files.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/env.hpp"
#include "os/process/host.hpp"
#include "tool/input/machine_folder.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/value_types.hpp"
#include "topo/edit/synthetic.hpp"
#include "topo/lint/lint.hpp"
#include "topo/lint/nccl_dialect.hpp"
#include "topology/graph/port_rules.hpp"

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

/// Returns this machine as a communicator sees it.
Result<LoadedTopology> ThisMachine(const Settings& settings) {
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  discovery::Nvml driver;
  const os::Host host = os::ReadHost(files);
  const discovery::ScanOptions options{
      .host_name = host.name,
      .identity = topology::HostIdentity(host.name, host.boot_id, settings.host_id),
      .interfaces = settings.socket_ifname,
      .gpus = &driver};
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, discovery::Scan(files, options));
  LoadedTopology loaded = Plain("this machine", std::move(scan.view), std::move(scan.missing));
  RINGLET_TRY_ASSIGN(discovery::TopologyFile file, discovery::ReadTopologyFile(files, settings));
  loaded.missing.insert(loaded.missing.begin(), file.findings.begin(), file.findings.end());
  if (!file.view) return loaded;
  RINGLET_TRY_ASSIGN(loaded.view, discovery::Fill(*std::move(file.view), loaded.view));
  if (!settings.topo_file.empty())
    loaded.title += fmt::format(", with {} of TOPO_FILE", settings.topo_file);
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
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error)
    return Error{Code::kSystem, fmt::format("{}: {}", path, error.message()), error.value()};
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  auto text = files.Read(absolute.string(), bytes_max);
  // A missing file is a mistake in the command line.
  if (!text.ok() && text.error().os_errno == ENOENT)
    return Error{Code::kInvalidArgument, text.error().message};
  return text;
}

}  // namespace ringlet::cli
