// `ringlet version`: prints the version.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Returns "ringlet 0.1.0 (NCCL 2.30.4 interface)", without a newline.
std::string VersionText();

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddVersion(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
