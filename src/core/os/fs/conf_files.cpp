#include "os/fs/conf_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "os/fs/file_tree.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kConfBytesMax = std::size_t{1} << 20;

/// \param named  the user named the file, so it must exist
void AddFile(const std::string& path, bool named, FileVariables& files) {
  // Most hosts lack these files, and access() takes a third of the time of a failed open.
  if (!named && ::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) return;
  const Result<FileTree> tree = FileTree::Open("/");  // the file may be a link to any place
  const Result<std::string> text =
      tree.ok() ? tree->Read(std::filesystem::absolute(path).string(), kConfBytesMax)
                : Result<std::string>(tree.error());
  if (text.ok()) return files.Add(*text, path);
  const int why = text.error().os_errno;
  if (!named && (why == ENOENT || why == ENOTDIR)) return;
  const std::string by = named ? fmt::format(", which {} names,", kConfFileVariable) : "";
  files.warnings.push_back(fmt::format("{}{} is not read: {}", path, by, text.error().message));
}

std::string Join(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
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
    AddFile(Join(home, ".nccl.conf"), false, files);
  }
  AddFile(Join(root, "etc/nccl.conf"), false, files);
  return files;
}

Result<Settings> ReadSettings(const EnvMap& env) {
  return ParseSettings(env, ReadConfFiles(env));
}

}  // namespace ringlet::os
