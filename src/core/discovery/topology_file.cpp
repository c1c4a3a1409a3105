#include "discovery/topology_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/settings/setting_table.hpp"
#include "discovery/sysfs.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::discovery {
namespace {

constexpr std::size_t kFindingsMax = 20;  // of a file that is only used

/// Converts `path` to a path from "/", which a tree requires.
std::string Absolute(const os::FileTree& files, const std::string& path) {
  if (path.starts_with('/')) return path;
  const Result<std::string> here = files.ReadLink("/proc/self/cwd");
  return here.ok() ? *here + "/" + path : path;
}

Result<TopologyFile> Read(const os::FileTree& files, const std::string& path) {
  RINGLET_TRY_ASSIGN(const std::string text,
                     files.Read(Absolute(files, path), topology::kXmlBytesMax));
  topology::XmlReading reading = topology::ReadXml(text, path);
  if (!reading.view) {
    const auto error = std::find_if(
        reading.findings.begin(), reading.findings.end(),
        [](const auto& finding) { return finding.severity == topology::Severity::kError; });
    return Error{Code::kInvalidArgument,
                 error == reading.findings.end() ? path + " is not a topology" : ToText(*error)};
  }
  TopologyFile file{.view = std::move(reading.view), .findings = {}};
  for (const topology::Finding& finding : reading.findings) {
    if (finding.severity == topology::Severity::kNote) continue;
    if (file.findings.size() == kFindingsMax) {
      file.findings.push_back(path + " has more of this kind; see: ringlet topo lint");
      break;
    }
    file.findings.push_back(ToText(finding));
  }
  return file;
}

}  // namespace

Result<TopologyFile> ReadTopologyFile(const os::FileTree& files, const std::string& path) {
  if (!path.empty()) return Read(files, path);
  Result<TopologyFile> provided = Read(files, std::string(kProvidedFile));
  if (provided.ok()) return provided;
  TopologyFile none;
  if (provided.error().code == Code::kInvalidArgument)
    none.findings.push_back(provided.error().message + "; the file is ignored");
  return none;
}

Result<TopologyFile> ReadTopologyFile(const os::FileTree& files, const Settings& settings) {
  Result<TopologyFile> file = ReadTopologyFile(files, settings.topo_file);
  if (file.ok() || settings.topo_file.empty()) return file;
  Error error = std::move(file).error();
  error.message = fmt::format("{}: {}", VariableOf(settings, "TOPO_FILE"), error.message);
  if (error.code != Code::kSystem || !IsSetByNccl(settings, "TOPO_FILE")) return error;
  TopologyFile none;
  none.findings.push_back(error.message + "; Ringlet continues without the file, as NCCL does");
  return none;
}

}  // namespace ringlet::discovery
