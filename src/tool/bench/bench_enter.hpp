// Commands that run programs in the network namespaces of a bench. The help omits them, because
// only workers and peers of a bench use them.
//
//   ringlet bench enter NAMESPACE PROGRAM...
//   ringlet bench reach NAMESPACE,NAMESPACE,... ADDRESS WORD...
//
// `reach` takes the arguments of ssh. It joins the words into one line and passes the line to a
// shell in the namespace of the host at ADDRESS. That shell has its own host name.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

void AddBenchEnter(CLI::App& bench, Action& chosen);
void AddBenchReach(CLI::App& bench, Action& chosen);

/// Returns the command that runs `arguments` in `space`, which is in the form of os::EnterNetSpace.
std::vector<std::string> CommandInSpace(const std::string& space,
                                        std::vector<std::string> arguments);

/// Returns the command of a substitute for ssh. This process must stay alive while it runs.
/// \param spaces  the namespace of each host, as in CommandInSpace
std::vector<std::string> SshSubstituteCommand(const std::vector<std::string>& spaces);

}  // namespace ringlet::cli
