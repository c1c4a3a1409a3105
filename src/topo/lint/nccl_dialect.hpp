// NCCL reads its files with a parser of its own, which knows only a part of XML. This finds what is
// good XML, and so fine for Ringlet, but not for NCCL.
#pragma once
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"

namespace ringlet::topology {

/// \param text  parses as XML
/// Source  the behaviour of NCCL 2.30.7's reader, tried out; docs/reference/topology.md
/// Cost    O(bytes)
std::vector<Finding> LintDialect(std::string_view text, std::string_view file);

inline constexpr std::size_t kNcclValueBytesMax = 253;
inline constexpr std::size_t kNcclAttributesMax = 16;

}  // namespace ringlet::topology
