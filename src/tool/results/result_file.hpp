// A file of bench/results: what was measured once, where, when and beside which others. The format
// is that of bench/results/README.md.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::cli {

/// One size of an operation.
struct ResultRow {
  std::uint64_t bytes = 0;
  std::optional<double> us;             ///< empty: not measured
  std::map<std::string, double> peers;  ///< us, of those that were measured
};

/// One operation among ranks of one layout, as `ringlet bench OPERATION --json` tells of it.
struct ResultRun {
  std::string operation;
  std::uint32_t ranks = 0;
  std::string layout;              ///< ranks, hosts and links in words; empty: ranks say it
  std::vector<std::string> peers;  ///< in the order of a cell
  std::vector<ResultRow> rows;
  std::vector<std::string> note;  ///< paragraphs
};

/// A table that is shown as it stands.
struct ResultTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> note;
};

struct ResultFile {
  std::string what, where, when;
  std::vector<std::string> beside;
  std::string commit, command;  ///< empty: not written down
  double order = 0;
  std::string self = "Ringlet";  ///< the first figure of a cell
  std::vector<std::string> note, after;
  std::vector<ResultRun> runs;
  std::vector<ResultTable> tables;
};

/// Errors  kInvalidArgument  names `path` and the key that is missing, unknown or of another type
Result<ResultFile> ParseResultFile(const std::string& path, std::string_view text);

}  // namespace ringlet::cli
