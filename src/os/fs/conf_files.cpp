#include "os/fs/conf_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

#include "os/fs/file_tree.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kConfBytesMax = std::size_t{1} << 20;

Result<std::string> ReadFile(const std::filesystem::path& path) {
  // From "/" on: the file may be a link to anywhere.
  RINGLET_TRY_ASSIGN(const FileTree files, FileTree::Open("/"));
  return files.Read(std::filesystem::absolute(path).string(), kConfBytesMax);
}

/// \param named  by the user, so that it must be there
void AddFile(const std::filesystem::path& path, bool named, FileVariables& files) {
  const Result<std::string> text = ReadFile(path);
  if (text.ok()) return files.Add(*text, path.string());
  const int why = text.error().os_errno;
  if (!named && (why == ENOENT || why == ENOTDIR)) return;
  const std::string by = named ? fmt::format(", which {} names,", kConfFileVariable) : "";
  files.warnings.push_back(
      fmt::format("{}{} is not read: {}", path.string(), by, text.error().message));
}

std::string ValueOf(const EnvMap& env, std::string_view name) {
  const auto at = env.find(name);
  return at == env.end() ? "" : at->second;
}

}  // namespace

FileVariables ReadConfFiles(const EnvMap& env, const std::string& root) {
  FileVariables files;
  if (const std::string named = ValueOf(env, kConfFileVariable); !named.empty()) {
    AddFile(named, true, files);
  } else if (const std::string home = ValueOf(env, "HOME"); !home.empty()) {
    AddFile(std::filesystem::path(home) / ".nccl.conf", false, files);
  }
  AddFile(std::filesystem::path(root) / "etc/nccl.conf", false, files);
  return files;
}

Result<Settings> ReadSettings(const EnvMap& env) {
  return ParseSettings(env, ReadConfFiles(env));
}

}  // namespace ringlet::os
