// Programs of the system that write formats which the tool does not write itself.
#pragma once
#include <string>
#include <vector>

namespace ringlet::cli {

/// Whether the program could be started and exited with 0 within a minute.
bool HelperDid(std::vector<std::string> arguments);

}  // namespace ringlet::cli
