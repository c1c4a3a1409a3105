// Finds valid XML that NCCL's own parser does not read. That parser supports only a part of XML;
// Ringlet reads all of it.
#pragma once
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"

namespace ringlet::topology {

/// \param text  parses as XML
/// Source  experiments with the reader of NCCL 2.30.7; docs/reference/topology.md
/// Cost    O(bytes)
std::vector<Finding> LintDialect(std::string_view text, std::string_view file);

inline constexpr std::size_t kNcclValueBytesMax = 253;
inline constexpr std::size_t kNcclAttributesMax = 16;

}  // namespace ringlet::topology
