// The table that nccl-tests made familiar, as text. Pure.
#pragma once
#include <string>

#include "tool/results/report.hpp"

namespace ringlet::cli {

/// The text above the rows.
struct TableHead {
  CallKind kind = CallKind::kAllReduce;
  std::uint32_t ranks = 0;
  bool threads = false;  ///< the ranks are threads of one process
  std::string links = {};
  std::size_t min_bytes = 0;
  std::size_t max_bytes = 0;
  std::uint32_t factor = 2;
  bool check = false;
};

/// Each with its newline.
std::string HeadText(const TableHead& head);
std::string RowText(const Row& row, const BenchReport& report);
std::string FootText(const BenchReport& report);

/// The same beside others: a column a peer, and how many times longer than Ringlet it takes.
std::string VersusHeadText(const TableHead& head, const std::vector<std::string>& peers);
std::string VersusRowText(const Row& row, const BenchReport& report);

}  // namespace ringlet::cli
