#include "os/fs/conf_files.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

#include "os/fs/file_tree.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kConfBytesMax = std::size_t{1} << 20;

/// \param tree  "/": the file may be a link to anywhere. \param named  by the user, so that it must
/// be there
void AddFile(const Result<FileTree>& tree, const std::filesystem::path& path, bool named,
             FileVariables& files) {
  const Result<std::string> text =
      tree.ok() ? tree->Read(std::filesystem::absolute(path).string(), kConfBytesMax)
                : Result<std::string>(tree.error());
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
  const Result<FileTree> tree = FileTree::Open("/");
  if (const std::string named = ValueOf(env, kConfFileVariable); !named.empty()) {
    AddFile(tree, named, true, files);
  } else if (const std::string home = ValueOf(env, "HOME"); !home.empty()) {
    AddFile(tree, std::filesystem::path(home) / ".nccl.conf", false, files);
  }
  AddFile(tree, std::filesystem::path(root) / "etc/nccl.conf", false, files);
  return files;
}

Result<Settings> ReadSettings(const EnvMap& env) {
  return ParseSettings(env, ReadConfFiles(env));
}

}  // namespace ringlet::os
