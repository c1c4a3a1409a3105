#include "tool/bench/turns.hpp"

#include <algorithm>

namespace ringlet::cli {
namespace {

double Median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

double MedianOf(const std::vector<Measurement>& turns, double Measurement::*member) {
  std::vector<double> numbers;
  for (const Measurement& turn : turns) numbers.push_back(turn.*member);
  return Median(std::move(numbers));
}

std::optional<Measurement> Placed(const std::vector<std::vector<Row>>& turns, std::size_t row,
                                  std::optional<Measurement> Row::*placement) {
  std::vector<Measurement> measured;
  for (const auto& turn : turns)
    if (turn[row].*placement) measured.push_back(*(turn[row].*placement));
  if (measured.empty()) return std::nullopt;
  return MedianOf(measured);
}

}  // namespace

Measurement MedianOf(const std::vector<Measurement>& turns) {
  Measurement median{.time_us = MedianOf(turns, &Measurement::time_us),
                     .p99_us = MedianOf(turns, &Measurement::p99_us),
                     .cpu_us = MedianOf(turns, &Measurement::cpu_us)};
  for (const Measurement& turn : turns)
    if (turn.wrong) median.wrong = median.wrong.value_or(0) + *turn.wrong;
  return median;
}

void Turns::Add(const std::string& peer, const std::map<std::size_t, Measurement>& measured) {
  for (const auto& [count, one] : measured) peers_[peer][count].push_back(one);
}

std::vector<Row> Turns::Rows() const {
  std::vector<Row> rows;
  if (own_.empty()) return rows;
  for (std::size_t i = 0; i < own_.front().size(); ++i) {
    Row row = own_.front()[i];
    row.out_of_place = Placed(own_, i, &Row::out_of_place);
    row.in_place = Placed(own_, i, &Row::in_place);
    for (const auto& [peer, measured] : peers_)
      if (const auto found = measured.find(row.count); found != measured.end())
        row.peers[peer] = MedianOf(found->second);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ringlet::cli
