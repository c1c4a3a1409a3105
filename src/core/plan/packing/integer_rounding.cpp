#include "plan/packing/integer_rounding.hpp"

#include <algorithm>
#include <limits>

namespace ringlet::plan {
namespace {

constexpr std::int64_t kWorst = std::numeric_limits<std::int64_t>::max();

std::uint16_t Lane(std::int64_t number) {
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(number, 0, kLaneMax));
}

}  // namespace

void Columns::Add(Needs needs) {
  const std::size_t column = needs_.size();
  if (column == stride_) {
    stride_ = std::max<std::size_t>(8 * kLanes, 2 * stride_);
    for (std::vector<std::uint16_t>& row : rows_) row.resize(stride_, 0);
  }
  for (const LpMaster::Need& need : needs) {
    while (need.row >= rows_.size()) {
      rows_.emplace_back(stride_, 0);
      most_.push_back(0);
    }
    rows_[need.row][column] = Lane(need.amount);
    most_[need.row] = std::max(most_[need.row], Lane(need.amount));
  }
  needs_.push_back(std::move(needs));
  those_.resize(stride_, 0);
  those_[column] = kLaneMax;
}

void IntegerRounding::Grow(std::size_t rows) {
  const auto known = static_cast<std::uint32_t>(counts_.size());
  counts_.resize(columns_->count(), 0);
  loads_.resize(std::max({rows, loads_.size(), columns_->row_count()}), 0);
  weights_.resize(loads_.size(), 1);
  weighted_.resize(loads_.size());
  for (std::size_t row = 0; known < columns_->count() && row < columns_->row_count(); ++row) {
    if (weights_[row] == 1) continue;
    weighted_[row].resize(columns_->stride(), 0);
    for (std::uint32_t column = known; column < columns_->count(); ++column)
      weighted_[row][column] = Lane(columns_->Row(row)[column] * weights_[row]);
  }
}

void IntegerRounding::AddWeight(std::size_t row) {
  const std::uint16_t* const once = columns_->Row(row);
  std::vector<std::uint16_t>& needs = weighted_[row];
  if (++weights_[row] == 2) needs.assign(once, once + columns_->stride());
  for (std::size_t i = 0; i < columns_->count(); i += kLanes)
    Store(Sum(Load(&needs[i]), Load(once + i)), &needs[i]);
}

void IntegerRounding::Put(std::uint32_t column, std::int64_t times) {
  for (const LpMaster::Need& need : columns_->of(column)) {
    if (need.row >= loads_.size()) loads_.resize(need.row + 1, 0);
    loads_[need.row] += times * need.amount;
  }
  Grow(0);
  counts_[column] = static_cast<std::uint32_t>(counts_[column] + times);
}

void IntegerRounding::AddBest(std::uint32_t times, const std::vector<std::int64_t>& room) {
  Grow(room.size());
  const auto part_of = [&](std::size_t row) {
    return (loads_[row] << 10) / std::max<std::int64_t>(room[row], 1);
  };
  std::vector<std::int64_t> parts;
  for (std::size_t row = 0; row < room.size(); ++row) parts.push_back(part_of(row));
  for (; times > 0; --times) {
    const std::uint32_t best = BestColumnToAdd(room, parts);
    Put(best, 1);
    for (const LpMaster::Need& need : columns_->of(best)) parts[need.row] = part_of(need.row);
  }
}

std::uint32_t IntegerRounding::BestColumnToAdd(const std::vector<std::int64_t>& room,
                                               const std::vector<std::int64_t>& parts) const {
  std::uint32_t best = 0;
  std::int64_t least_over = kWorst, least_part = kWorst;
  for (std::uint32_t column = 0; column < columns_->count(); ++column) {
    std::int64_t over = 0, part = 0;
    for (const LpMaster::Need& need : columns_->of(column)) {
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
  return best;
}

bool IntegerRounding::Overflows(const std::vector<std::int64_t>& room) const {
  for (std::size_t row = 0; row < room.size(); ++row)
    if (loads_[row] > room[row]) return true;
  return false;
}

/// Finds the rows that some column would overflow after an exchange. Overflowing rows are first.
void IntegerRounding::FindTight(const std::vector<std::int64_t>& room) {
  tight_.clear();
  overflowing_ = 0;
  for (std::uint32_t row = 0; row < columns_->row_count(); ++row) {
    const std::int64_t left = room[row] - loads_[row];
    if (left >= columns_->MostOf(row)) continue;
    const std::uint16_t* const once = columns_->Row(row);
    tight_.push_back(Tight{left, weights_[row], once,
                           weights_[row] > 1 ? weighted_[row].data() : once, SimdU16x8{}});
    if (left < 0) std::swap(tight_.back(), tight_[overflowing_++]);
  }
}

/// Finds the column that overflows least in place of `from`.
/// \return its gain is kLaneMax minus the overflow
IntegerRounding::Exchange IntegerRounding::BestReplacement(std::uint32_t from, std::int64_t& work) {
  const std::size_t lanes = (columns_->count() + kLanes - 1) / kLanes;
  for (Tight& tight : tight_)
    tight.room = SimdU16x8{} + Lane((tight.left + tight.needs[from]) * tight.weight);
  left_.resize(columns_->stride());
  SimdU16x8 most = {};
  for (std::size_t i = 0; i < lanes; ++i) {
    SimdU16x8 left = columns_->LaneMask(i);
    for (const Tight& tight : tight_)
      left = Less(left, Less(Load(tight.weighted + i * kLanes), tight.room));
    if (from / kLanes == i) left[from % kLanes] = 0;
    Store(left, &left_[i * kLanes]);
    most = left + Less(most, left);
  }
  work += static_cast<std::int64_t>((lanes + 1) * tight_.size());
  std::uint16_t best = 0;
  for (std::size_t i = 0; i < kLanes; ++i) best = std::max<std::uint16_t>(best, most[i]);
  const auto to = std::find(left_.begin(), left_.end(), best) - left_.begin();
  return {best, from, static_cast<std::uint32_t>(to)};
}

/// Finds the best exchange of a channel on an overflowing row. The gain may be 0 or negative.
IntegerRounding::Exchange IntegerRounding::BestExchange(const std::vector<std::int64_t>& room,
                                                        std::int64_t& work) {
  Exchange best{-kWorst / 2, 0, 0};
  FindTight(room);
  work += static_cast<std::int64_t>(room.size());
  for (std::uint32_t from = 0; from < counts_.size(); ++from) {
    if (counts_[from] == 0) continue;
    std::int64_t freed = 0;
    for (std::size_t i = 0; i < overflowing_; ++i)
      freed += tight_[i].weight * std::min<std::int64_t>(-tight_[i].left, tight_[i].needs[from]);
    work += static_cast<std::int64_t>(overflowing_);
    if (freed <= best.gain) continue;
    Exchange one = BestReplacement(from, work);
    one.gain += freed - kLaneMax;
    if (one.gain > best.gain) best = one;
  }
  return best;
}

/// Returns a column in use that loads an overflowing row. Repeated calls cycle through all of them.
std::uint32_t IntegerRounding::NextOverflowingColumn(const std::vector<std::int64_t>& room) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (++turn_ >= counts_.size()) turn_ = 0;
    if (counts_[turn_] == 0) continue;
    for (const LpMaster::Need& need : columns_->of(turn_))
      if (loads_[need.row] > room[need.row]) return turn_;
  }
  return turn_;
}

bool IntegerRounding::Fit(const std::vector<std::int64_t>& asked_room, std::int64_t work_max,
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
    if (more.may()) {
      const std::uint32_t from = asks++ % 2 == 0 ? best.from : NextOverflowingColumn(*room);
      Put(from, -1);
      const std::vector<std::int64_t>* const grown = more.find({loads_, weights_, *room});
      Put(from, 1);
      if (grown != nullptr) {
        room = grown;
        Grow(room->size());
        if (BestExchange(*room, work).gain > 0) continue;
      }
    }
    for (std::size_t row = 0; row < room->size(); ++row)
      if (loads_[row] > (*room)[row]) AddWeight(row);
  }
  return true;
}

}  // namespace ringlet::plan
