// `ringlet topo check`: prints a verdict on one machine or on many.
#pragma once
#include <CLI/CLI.hpp>

#include "tool/text/command.hpp"

namespace ringlet::cli {

void AddTopoCheck(CLI::App& topo, Action& chosen);

}  // namespace ringlet::cli
