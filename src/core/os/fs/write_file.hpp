// Writes a file as a whole.
#pragma once
#include <string>
#include <string_view>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// Makes `path` a file with this content, in place of what was there; "/dev/stdout" works too.
/// Errors  kSystem  names the file and the reason; what was written before stays
Status WriteFile(const std::string& path, std::string_view content);

/// The same, but at each moment the file has either all of its former content or all of this, also
/// for those who read it meanwhile. Writes `path`.new first; not for what is no plain file.
/// Errors  as WriteFile
Status ReplaceFile(const std::string& path, std::string_view content);

}  // namespace ringlet::os
