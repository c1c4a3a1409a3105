// The table of exit statuses that `ringlet help exit-codes` shows.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace ringlet::cli {

/// Each status as people write it ("2", "128+N") and what it means.
std::vector<std::pair<std::string, std::string>> ExitStatusMeanings();

}  // namespace ringlet::cli
