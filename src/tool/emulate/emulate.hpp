// `ringlet emulate`: runs a program written for CUDA and NCCL on host devices.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds the command to `tool`. \param program  from SplitRunArguments
void AddEmulate(CLI::App& tool, std::vector<std::string> program, Action& chosen);

}  // namespace ringlet::cli
