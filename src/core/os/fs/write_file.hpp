// Writes a file as a whole.
#pragma once
#include <string>
#include <string_view>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// Replaces the content of `path`; also works for "/dev/stdout".
/// Errors  kSystem  names the file and the reason; data written so far stays
Status WriteFile(const std::string& path, std::string_view content);

/// Replaces the content atomically: a concurrent reader sees either all of the old content or all
/// of the new. Writes `path`.new first. For plain files only. Errors  as WriteFile
Status ReplaceFile(const std::string& path, std::string_view content);

/// Creates a folder and its missing parents, if necessary. Errors  kSystem  this user cannot create
/// it or write into it
Status CreateFolder(const std::string& path);

}  // namespace ringlet::os
