#include "programs/private_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace ringlet::os {

Result<std::unique_ptr<PrivateFolder>> PrivateFolder::Make(std::string parent,
                                                           const std::string& name) {
  std::error_code wrong;
  parent = std::filesystem::absolute(parent.empty() ? "/tmp" : parent, wrong).string();
  std::string path = fmt::format("{}/{}-XXXXXX", parent, name);
  if (wrong || ::mkdtemp(path.data()) == nullptr) {
    const int why = wrong ? wrong.value() : errno;
    return Error{
        Code::kSystem,
        fmt::format("cannot make a temporary folder in {}: {}; set TMPDIR to another folder",
                    parent, std::strerror(why)),
        why};
  }
  return std::unique_ptr<PrivateFolder>(new PrivateFolder(std::move(path)));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ringlet::os
