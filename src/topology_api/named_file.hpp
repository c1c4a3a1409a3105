// Reads a file that a user named.
#pragma once
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::topology {

/// Reads a whole file. A relative path starts at the current folder.
/// Errors  kInvalidArgument  the file is missing
///         kSystem           it cannot be read
///         kUnsupported      it has more than `bytes_max` bytes
Result<std::string> ReadNamedFile(const std::string& path, std::size_t bytes_max);

}  // namespace ringlet::topology
