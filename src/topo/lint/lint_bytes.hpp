// Checks that a file is UTF-8. NCCL does not check it, other readers do.
#pragma once
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"

namespace ringlet::topology {

/// Returns at most one finding, at the first invalid byte.
std::vector<Finding> LintBytes(std::string_view text, std::string_view file);

}  // namespace ringlet::topology
