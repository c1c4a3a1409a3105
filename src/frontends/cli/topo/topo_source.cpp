#include "frontends/cli/topo/topo_source.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "discovery/nvml.hpp"
#include "discovery/scan.hpp"
#include "frontends/cli/value_types.hpp"
#include "os/fs/conf_files.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/env.hpp"
#include "os/process/host.hpp"
#include "topology/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

Result<LoadedTopology> Scanned(const std::string& root, std::string title) {
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open(root));
  discovery::ScanOptions options;
  discovery::Nvml driver;
  if (root == "/") {
    options.gpus = &driver;
    const os::Host host = os::ReadHost(files);
    options.host_name = host.name;
    options.identity = topology::HostIdentity(host.name, host.boot_id, "");
    RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(os::ReadEnvironment()));
    options.interfaces = settings.socket_ifname;  // as ranks look at it
  }
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, discovery::Scan(files, options));
  return LoadedTopology{.title = std::move(title),
                        .view = std::move(scan.view),
                        .findings = {},
                        .positions = {},
                        .missing = std::move(scan.missing)};
}

Result<LoadedTopology> FromFile(const std::string& path) {
  RINGLET_TRY_ASSIGN(const std::string text, ReadUserFile(path, topology::kXmlBytesMax));
  topology::XmlReading reading = topology::ReadXml(text, path);
  if (!reading.view) return topology::ViewFromXml(text, path).error();
  return LoadedTopology{.title = path == "-" ? "standard input" : path,
                        .view = *std::move(reading.view),
                        .findings = std::move(reading.findings),
                        .positions = std::move(reading.positions),
                        .missing = {}};
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
  CLI::Option* file =
      command
          .add_option("FILE", source.file,
                      "An NCCL topology file; - is standard input; none: this machine")
          ->type_name(kFileType);
  CLI::Option* root =
      command
          .add_option("--root", source.root, "A folder that holds another machine's /sys and /proc")
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
  if (!source.root.empty()) return Scanned(source.root, source.root);
  if (source.synthetic.empty()) return Scanned("/", "this machine");
  RINGLET_TRY_ASSIGN(topology::HostView view, topology::ParseSynthetic(source.synthetic));
  return LoadedTopology{.title = source.synthetic,
                        .view = std::move(view),
                        .findings = {},
                        .positions = {},
                        .missing = {}};
}

Result<std::string> ReadUserFile(const std::string& path, std::size_t bytes_max) {
  if (path == "-") return ReadStandardInput(bytes_max);
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error)
    return Error{Code::kSystem, fmt::format("{}: {}", path, error.message()), error.value()};
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  return files.Read(absolute.string(), bytes_max);
}

}  // namespace ringlet::cli
