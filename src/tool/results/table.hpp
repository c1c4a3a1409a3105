// Formats results as text in the style of nccl-tests. Pure.
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

/// Each text ends with a newline.
std::string HeadText(const TableHead& head);
std::string RowText(const Row& row, const BenchReport& report);
std::string FootText(const BenchReport& report);

/// The same table beside peers. Each peer has a column and the ratio of its time to Ringlet's.
std::string VersusHeadText(const TableHead& head, const std::vector<std::string>& peers);
std::string VersusRowText(const Row& row, const BenchReport& report);

}  // namespace ringlet::cli
