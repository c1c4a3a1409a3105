// Connections that others have made to a machine and that have not shown yet that they belong: a
// bounded number of them, each with a time limit, and what the log says of those that do not. A
// part of a Machine; no I/O.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/wire/machine.hpp"

namespace ringlet {

struct CallersConfig {
  std::string owner = {};  ///< "root", "rank 3": begins each line of the log; may be empty
  /// Callers that have proven nothing yet; at least 1, and well below the number of descriptors
  /// that the process may hold.
  std::size_t half_open_max = 4096;
  Instant timeout = std::chrono::seconds(10);  ///< for a caller to introduce itself
  std::uint32_t noted_max = 32;  ///< those with a line of the log each; the rest are counted
};

/// The order in which callers came. A machine that has no room for one more accepts no caller
/// (Machine::Accepting): callers then wait in the listener's queue. A peer that knows the secret
/// proves it within a round trip, so a place becomes free soon when many members call at once; and
/// a stranger keeps the others waiting for kHurry at most, after which it goes for the next in the
/// queue. Only a caller that has proven nothing ever goes for another.
class CallerQueue {
 public:
  /// The time that each caller is granted to prove itself, however many wait. Long for a round
  /// trip; short enough that strangers would have to call ten times `half_open_max` times a second
  /// to fill it.
  static constexpr Instant kHurry = std::chrono::milliseconds(100);

  CallerQueue(std::size_t half_open_max, Instant timeout)
      : half_open_max_(half_open_max), timeout_(timeout) {}

  /// Whether another may come.
  bool HasRoom(Instant now) const {
    return unproven_.size() < half_open_max_ || now - unproven_.Oldest().first >= kHurry;
  }
  /// The caller that has to go before another is added, if one has.
  std::optional<LineId> Overdue() const {
    if (unproven_.size() < half_open_max_) return std::nullopt;
    return unproven_.Oldest().second;
  }
  void Add(LineId line, Instant now) { unproven_.Add(line, now); }
  /// It knows the secret: from now on it takes no place from others.
  void Prove(LineId line) {
    if (const auto since = unproven_.Remove(line)) proven_.Add(line, *since);
  }
  /// It has introduced itself, or it is gone.
  void Remove(LineId line) {
    unproven_.Remove(line);
    proven_.Remove(line);
  }

  /// A caller whose time is over; Remove it, and ask again.
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

  std::size_t half_open_max_;
  Instant timeout_;
  Arrivals unproven_, proven_;
};

/// Which callers were sent away, and what the log says of it: one policy for all listeners.
class StrangerLog {
 public:
  explicit StrangerLog(std::string owner, std::uint32_t noted_max)
      : prefix_(owner.empty() ? "" : owner + ": "), noted_max_(noted_max) {}

  /// A warning for each of the first `noted_max`; the rest are counted.
  std::optional<Note> TurnedAway(const Address& from, const std::string& why);
  /// It hung up itself before it had introduced itself: another address of ours has answered its
  /// dialler first, our proof did not convince it, or it looks for open ports.
  std::optional<Note> Left(const Address& from);
  /// How many there were, if some had no line of their own.
  std::optional<Note> Summary() const;

  std::uint32_t turned_away() const { return turned_away_; }
  std::uint32_t left() const { return left_; }
  const std::string& last() const { return last_; }  ///< "10.0.0.5:7: why it was turned away"

 private:
  std::string prefix_;
  std::uint32_t noted_max_;
  std::uint32_t turned_away_ = 0;
  std::uint32_t left_ = 0;
  std::string last_;
};

/// The callers of one machine, each with a `Line`: what the machine keeps of it until it has
/// introduced itself.
template <class Line>
class Callers {
 public:
  using Emit = std::function<void(Action)>;
  struct HeldCaller {
    Line line;
    Address from;
  };

  /// \param emit  takes what there is to do; outlives this
  Callers(CallersConfig config, Emit emit)
      : queue_(config.half_open_max, config.timeout),
        log_(std::move(config.owner), config.noted_max),
        emit_(std::move(emit)) {}

  bool HasRoom(Instant now) const { return queue_.HasRoom(now); }
  void Add(const Accepted& event, Line line, Instant now) {
    if (const auto oldest = queue_.Overdue())
      TurnAway(*oldest, "too many callers that do not introduce themselves");
    callers_.emplace(event.line, HeldCaller{std::move(line), event.from});
    queue_.Add(event.line, now);
  }
  /// Null: it is not, or no longer, one of these.
  Line* Find(LineId line) {
    const auto it = callers_.find(line);
    return it == callers_.end() ? nullptr : &it->second.line;
  }
  void Prove(LineId line) { queue_.Prove(line); }
  /// It has introduced itself: from now on the machine answers for its line.
  HeldCaller Take(LineId line) {
    auto node = callers_.extract(line);
    RINGLET_ASSERT(!node.empty());
    queue_.Remove(line);
    return std::move(node.mapped());
  }
  /// Hangs up, and notes it.
  void TurnAway(LineId line, const std::string& why) {
    Tell(log_.TurnedAway(callers_.at(line).from, why));
    emit_(Hangup{.line = line, .of_stranger = true});
    Take(line);
  }
  /// True where the line was a caller's.
  bool OnClosed(LineId line) {
    if (!callers_.contains(line)) return false;
    Tell(log_.Left(Take(line).from));
    return true;
  }
  void Expire(Instant now) {
    while (const auto expired = queue_.Expired(now))
      TurnAway(*expired, "it did not introduce itself in time");
  }
  std::optional<Instant> Deadline(Instant now) const { return queue_.Deadline(now); }
  /// Hangs up on all, without a word of it.
  void Clear() {
    for (const auto& [line, caller] : callers_) {
      emit_(Hangup{line});
      queue_.Remove(line);
    }
    callers_.clear();
  }
  std::size_t size() const { return callers_.size(); }
  const StrangerLog& log() const { return log_; }

 protected:
  void Tell(std::optional<Note> note) {
    if (note) emit_(std::move(*note));
  }
  std::map<LineId, HeldCaller>& all() { return callers_; }
  const Emit& emit() const { return emit_; }

 private:
  CallerQueue queue_;
  StrangerLog log_;
  Emit emit_;
  std::map<LineId, HeldCaller> callers_;
};

}  // namespace ringlet
