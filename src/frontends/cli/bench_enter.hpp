// `ringlet bench enter NAMESPACE PROGRAM...`: runs a program in a network namespace. For our own
// workers and peers; not shown.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "frontends/cli/command.hpp"

namespace ringlet::cli {

void AddBenchEnter(CLI::App& bench, Action& chosen);

/// What runs `arguments` in the namespace that os::EnterNetSpace takes.
std::vector<std::string> Entered(const std::string& space, std::vector<std::string> arguments);

}  // namespace ringlet::cli
