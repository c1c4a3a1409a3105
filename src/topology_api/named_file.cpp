#include "topology_api/named_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

#include "os/fs/file_tree.hpp"

namespace ringlet::topology {

Result<std::string> ReadNamedFile(const std::string& path, std::size_t bytes_max) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error)
    return Error{Code::kSystem, fmt::format("{}: {}", path, error.message()), error.value()};
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  auto text = files.Read(absolute.string(), bytes_max);
  // A missing file is a mistake of the caller.
  if (!text.ok() && text.error().os_errno == ENOENT)
    return Error{Code::kInvalidArgument, text.error().message};
  return text;
}

}  // namespace ringlet::topology
