// Whole files written, for what the user asked to be written.
#pragma once
#include <string>
#include <string_view>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// Makes or replaces the file at `path` with `content`, mode 0644.
/// Errors  kSystem  the sentence names the file and the reason
Status WriteFile(const std::string& path, std::string_view content);

}  // namespace ringlet::os
