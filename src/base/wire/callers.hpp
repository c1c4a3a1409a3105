// Those who have called a machine and not shown yet that they belong: a bounded number of them,
// each with a time limit. A part of a Machine; no I/O.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/wire/machine.hpp"

namespace ringlet {

/// Where there is no room for one more caller the machine accepts nobody (Machine::Accepting): they
/// wait in the listener's queue. Whoever knows the secret proves it within a round trip, so a place
/// becomes free soon when many members call at once; and a stranger keeps the others waiting for
/// kHurry at most, after which it goes for the next in the queue. Only a caller that has proven
/// nothing ever goes for another.
class Callers {
 public:
  /// What a caller surely gets to prove itself in, however many wait. Long for a round trip; short
  /// enough that strangers would have to call ten times `unproven_max` times a second to fill it.
  static constexpr Instant kHurry = std::chrono::milliseconds(100);

  /// \param unproven_max  at least 1
  /// \param patience      until when a caller must have introduced itself, if nobody needs its
  /// place
  Callers(std::size_t unproven_max, Instant patience)
      : unproven_max_(unproven_max), patience_(patience) {}

  /// Whether another may come.
  bool HasRoom(Instant now) const {
    return unproven_.size() < unproven_max_ || now - unproven_.Oldest().first >= kHurry;
  }
  /// Who has to go before another is added, if somebody has.
  std::optional<LineId> InTheWay() const {
    if (unproven_.size() < unproven_max_) return std::nullopt;
    return unproven_.Oldest().second;
  }
  void Add(LineId line, Instant now) { unproven_.Add(line, now); }
  /// It knows the secret: from now on it is in nobody's way.
  void Prove(LineId line) {
    if (const auto since = unproven_.Remove(line)) proven_.Add(line, *since);
  }
  /// It has introduced itself, or it is gone.
  void Remove(LineId line) {
    unproven_.Remove(line);
    proven_.Remove(line);
  }
  void Clear() { unproven_ = proven_ = Arrivals(); }

  /// Whose time is over; Remove it, and ask again.
  std::optional<LineId> Expired(Instant now) const;
  /// When one expires, or becomes old enough to go for another.
  std::optional<Instant> Deadline(Instant now) const;
  std::size_t size() const { return unproven_.size() + proven_.size(); }

 private:
  class Arrivals {
   public:
    using Arrival = std::pair<Instant, LineId>;
    void Add(LineId line, Instant now) {
      since_.emplace(line, now);
      order_.emplace(now, line);
    }
    std::optional<Instant> Remove(LineId line) {
      const auto it = since_.find(line);
      if (it == since_.end()) return std::nullopt;
      const Instant since = it->second;
      order_.erase({since, line});
      since_.erase(it);
      return since;
    }
    const Arrival& Oldest() const { return *order_.begin(); }
    std::size_t size() const { return since_.size(); }

   private:
    std::map<LineId, Instant> since_;
    std::set<Arrival> order_;
  };

  std::size_t unproven_max_;
  Instant patience_;
  Arrivals unproven_, proven_;
};

}  // namespace ringlet
