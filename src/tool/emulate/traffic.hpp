// `ringlet traffic`: reports the bytes that the links of an emulated machine carried.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. Parsing it sets `chosen`.
void AddTraffic(CLI::App& tool, Action& chosen);

}  // namespace ringlet::cli
