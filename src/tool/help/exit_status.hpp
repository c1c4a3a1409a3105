// The table of exit statuses of `ringlet help exit-codes`.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace ringlet::cli {

/// Returns each status as people write it ("2", "128+N") with its meaning.
std::vector<std::pair<std::string, std::string>> ExitStatusMeanings();

}  // namespace ringlet::cli
