// Programs in the network namespaces of a bench. For our own workers and peers; not shown.
//
//   ringlet bench enter NAMESPACE PROGRAM...
//   ringlet bench reach NAMESPACE,NAMESPACE,... ADDRESS WORD...
//
// The second one is called as ssh is: it gives the words, as one line, to a shell on the host of
// that address, under a host name of its own.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

void AddBenchEnter(CLI::App& bench, Action& chosen);
void AddBenchReach(CLI::App& bench, Action& chosen);

/// The command that runs `arguments` in the namespace that os::EnterNetSpace takes.
std::vector<std::string> Entered(const std::string& space, std::vector<std::string> arguments);

/// The words before an address and a line for its shell; this process stays.
/// \param spaces  of each host, as in Entered
std::vector<std::string> Reacher(const std::vector<std::string>& spaces);

}  // namespace ringlet::cli
