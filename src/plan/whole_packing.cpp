#include "plan/whole_packing.hpp"

#include <algorithm>
#include <limits>

namespace ringlet::plan {
namespace {

constexpr std::int64_t kWorst = std::numeric_limits<std::int64_t>::max();

}  // namespace

void WholePacking::Grow(std::size_t rows) {
  counts_.resize(columns_->size(), 0);
  loads_.resize(std::max(rows, loads_.size()), 0);
  weights_.resize(loads_.size(), 1);
}

void WholePacking::Put(std::uint32_t column, std::int64_t times) {
  for (const FluidPacking::Need& need : (*columns_)[column]) {
    if (need.row >= loads_.size()) loads_.resize(need.row + 1, 0);
    loads_[need.row] += times * need.amount;
  }
  Grow(0);
  counts_[column] = static_cast<std::uint32_t>(counts_[column] + times);
}

void WholePacking::AddBest(const std::vector<std::int64_t>& room) {
  Grow(room.size());
  std::vector<std::int64_t> parts;
  for (std::size_t row = 0; row < room.size(); ++row)
    parts.push_back((loads_[row] << 10) / std::max<std::int64_t>(room[row], 1));
  std::uint32_t best = 0;
  std::int64_t least_over = kWorst, least_part = kWorst;
  for (std::uint32_t column = 0; column < columns_->size(); ++column) {
    std::int64_t over = 0, part = 0;
    for (const FluidPacking::Need& need : (*columns_)[column]) {
      over +=
          std::clamp<std::int64_t>(loads_[need.row] + need.amount - room[need.row], 0, need.amount);
      part += need.amount * parts[need.row];
      if (over > least_over || (over == least_over && part >= least_part)) break;
    }
    if (over > least_over || (over == least_over && part >= least_part)) continue;
    least_over = over;
    least_part = part;
    best = column;
  }
  Put(best, 1);
}

bool WholePacking::Overflows(const std::vector<std::int64_t>& room) const {
  for (std::size_t row = 0; row < room.size(); ++row)
    if (loads_[row] > room[row]) return true;
  return false;
}

/// Of one that takes from a row that overflows, for any other. Its gain may be none.
WholePacking::Exchange WholePacking::BestExchange(const std::vector<std::int64_t>& room,
                                                  std::int64_t& work) {
  Exchange best{-kWorst / 2, 0, 0};
  for (std::uint32_t from = 0; from < counts_.size(); ++from) {
    if (counts_[from] == 0) continue;
    const Needs& needs = (*columns_)[from];
    std::int64_t freed = 0;
    for (const FluidPacking::Need& need : needs) {
      const std::int64_t over = loads_[need.row] - room[need.row];
      if (over > 0) freed += weights_[need.row] * std::min(over, need.amount);
    }
    work += static_cast<std::int64_t>(needs.size());
    if (freed <= best.gain) continue;
    for (const FluidPacking::Need& need : needs) loads_[need.row] -= need.amount;
    for (std::uint32_t to = 0; freed > best.gain && to < columns_->size(); ++to) {
      if (to == from) continue;
      const std::int64_t enough = freed - best.gain;
      std::int64_t cost = 0;
      for (const FluidPacking::Need& need : (*columns_)[to]) {
        ++work;
        const std::int64_t load = loads_[need.row] + need.amount, of = room[need.row];
        if (load > of) cost += weights_[need.row] * std::min(load - of, need.amount);
        if (cost >= enough) break;
      }
      if (cost < enough) best = {freed - cost, from, to};
    }
    for (const FluidPacking::Need& need : needs) loads_[need.row] += need.amount;
  }
  return best;
}

/// Of the columns of which there are some and that take from a row that overflows, each in turn.
std::uint32_t WholePacking::NextCrowding(const std::vector<std::int64_t>& room) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (++turn_ >= counts_.size()) turn_ = 0;
    if (counts_[turn_] == 0) continue;
    for (const FluidPacking::Need& need : (*columns_)[turn_])
      if (loads_[need.row] > room[need.row]) return turn_;
  }
  return turn_;
}

bool WholePacking::Fit(const std::vector<std::int64_t>& asked_room, std::int64_t work_max,
                       const More& more, std::int64_t& work) {
  const std::vector<std::int64_t>* room = &asked_room;
  Grow(room->size());
  std::fill(weights_.begin(), weights_.end(), 1);
  std::uint32_t asks = 0;
  const std::int64_t until = work + work_max;
  while (Overflows(*room)) {
    if (work >= until) return false;
    const Exchange best = BestExchange(*room, work);
    if (best.gain > 0) {
      Put(best.from, -1);
      Put(best.to, 1);
      continue;
    }
    const std::uint32_t from = asks++ % 2 == 0 ? best.from : NextCrowding(*room);
    Put(from, -1);
    const std::vector<std::int64_t>* const grown = more({loads_, weights_, *room});
    Put(from, 1);
    if (grown != nullptr) {
      room = grown;
      Grow(room->size());
      if (BestExchange(*room, work).gain > 0) continue;
    }
    for (std::size_t row = 0; row < room->size(); ++row)
      if (loads_[row] > (*room)[row]) ++weights_[row];
  }
  return true;
}

}  // namespace ringlet::plan
