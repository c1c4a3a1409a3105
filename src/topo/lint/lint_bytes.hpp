// The bytes of a file: whether they are UTF-8, as NCCL never asks and others do.
#pragma once
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"

namespace ringlet::topology {

/// At most one finding, at the first byte that is no part of a character.
std::vector<Finding> LintBytes(std::string_view text, std::string_view file);

}  // namespace ringlet::topology
