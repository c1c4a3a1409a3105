// Several turns of the same benchmark, each with its medians, as one result. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tool/results/report.hpp"

namespace ringlet::cli {

class Turns {
 public:
  /// Ringlet's rows of one turn: of the same sizes in every turn.
  void Add(std::vector<Row> rows) { own_.push_back(std::move(rows)); }
  /// A peer's measurements of one turn, by count.
  void Add(const std::string& peer, const std::map<std::size_t, Measurement>& measured);

  /// A row a size, with the peers that have measured it. Each number is the median over the turns;
  /// wrong elements are those of all turns.
  std::vector<Row> Rows() const;

 private:
  std::vector<std::vector<Row>> own_;
  std::map<std::string, std::map<std::size_t, std::vector<Measurement>>> peers_;
};

/// Of one measurement in each turn, at least one. Of an even number the mean of the middle two.
Measurement MedianOf(const std::vector<Measurement>& turns);

}  // namespace ringlet::cli
