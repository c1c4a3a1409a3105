// How a program of bench/peers that is missing comes to be.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace ringlet::cli {

/// A line for a shell that installs Debian's `packages` and builds `target` in the build tree of
/// this tool.
/// \param folder  where the programs are: BUILD/bin
std::string PeerBuildCommand(const std::filesystem::path& folder, std::string_view packages,
                             std::string_view target);

}  // namespace ringlet::cli
