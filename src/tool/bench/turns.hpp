// Merges several turns of one benchmark, each with its own medians, into one result. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tool/results/report.hpp"

namespace ringlet::cli {

class Turns {
 public:
  /// Adds Ringlet's rows of one turn. All turns have the same sizes.
  void Add(std::vector<Row> rows) { own_.push_back(std::move(rows)); }
  /// Adds a peer's measurements of one turn, by count.
  void Add(const std::string& peer, const std::map<std::size_t, Measurement>& measured);

  /// Returns one row per size, with the peers that measured it. Each number is the median over the
  /// turns. Wrong elements are summed over all turns.
  std::vector<Row> Rows() const;

 private:
  std::vector<std::vector<Row>> own_;
  std::map<std::string, std::map<std::size_t, std::vector<Measurement>>> peers_;
};

/// Returns the median over the turns, at least one. For an even number: the mean of the middle two.
Measurement MedianOf(const std::vector<Measurement>& turns);

}  // namespace ringlet::cli
