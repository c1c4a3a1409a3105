// Incoming connections of a machine from callers that have not proven their membership: a bounded
// number, each with a time limit, and the log of those that fail. A part of a Machine; no I/O.
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
  std::string owner = {};  ///< "root", "rank 3": prefix of each log line; may be empty
  /// Maximum number of unauthenticated callers; at least 1, well below the process's descriptor
  /// limit.
  std::size_t half_open_max = 4096;
  Instant timeout = std::chrono::seconds(10);  ///< time for a caller to identify itself
  std::uint32_t noted_max = 32;  ///< callers with a log line of their own; the rest are counted
};

/// The order in which callers arrived. A machine without room for another caller accepts none
/// (Machine::Accepting); callers then wait in the listener's queue. A peer that knows the secret
/// proves it within a round trip, so a place becomes free soon when many members call at once. A
/// stranger delays the others for at most kHurry, and is then dropped for the next in the queue.
/// Only unauthenticated callers are dropped for others.
class CallerQueue {
 public:
  /// The time that each caller has to authenticate, even if many wait. Longer than a round trip,
  /// but so short that strangers need ten times `half_open_max` calls a second to fill the queue.
  static constexpr Instant kHurry = std::chrono::milliseconds(100);

  CallerQueue(std::size_t half_open_max, Instant timeout)
      : half_open_max_(half_open_max), timeout_(timeout) {}

  /// Returns true if another caller may be added.
  bool HasRoom(Instant now) const {
    return unproven_.size() < half_open_max_ || now - unproven_.Oldest().first >= kHurry;
  }
  /// The caller to drop before another is added. Empty if there is room.
  std::optional<LineId> Overdue() const {
    if (unproven_.size() < half_open_max_) return std::nullopt;
    return unproven_.Oldest().second;
  }
  void Add(LineId line, Instant now) { unproven_.Add(line, now); }
  /// Called when a caller has proven the secret. It then takes no place from others.
  void Prove(LineId line) {
    if (const auto since = unproven_.Remove(line)) proven_.Add(line, *since);
  }
  /// Called when a caller has identified itself or disconnected.
  void Remove(LineId line) {
    unproven_.Remove(line);
    proven_.Remove(line);
  }

  /// A caller with an expired time limit. Remove it, and call again.
  std::optional<LineId> Expired(Instant now) const;
  /// The time at which the next caller expires, or becomes old enough to be dropped for another.
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

/// Counts the callers that were turned away or left, and logs them: one policy for all listeners.
class RejectionLog {
 public:
  explicit RejectionLog(std::string owner, std::uint32_t noted_max)
      : prefix_(owner.empty() ? "" : owner + ": "), noted_max_(noted_max) {}

  /// A warning for each of the first `noted_max`; the rest are counted.
  std::optional<Note> NoteRejection(const Address& from, const std::string& why);
  /// Called when a caller has hung up before it identified itself: another address of ours answered
  /// its dialler first, it rejected our proof, or it scans for open ports.
  std::optional<Note> NoteHangup(const Address& from);
  /// The total, if some callers lack a line of their own.
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

/// The callers of one machine, each with its `Line`: the state kept until it has identified itself.
template <class Line>
class Callers {
 public:
  using Emit = std::function<void(Action)>;
  struct HeldCaller {
    Line line;
    Address from;
  };

  /// \param emit  receives the actions; outlives this object
  Callers(CallersConfig config, Emit emit)
      : queue_(config.half_open_max, config.timeout),
        log_(std::move(config.owner), config.noted_max),
        emit_(std::move(emit)) {}

  bool HasRoom(Instant now) const { return queue_.HasRoom(now); }
  void Add(const Accepted& event, Line line, Instant now) {
    if (const auto oldest = queue_.Overdue())
      RejectCaller(*oldest, "too many callers that do not introduce themselves");
    callers_.emplace(event.line, HeldCaller{std::move(line), event.from});
    queue_.Add(event.line, now);
  }
  /// Returns null if `line` is not, or no longer, a caller.
  Line* Find(LineId line) {
    const auto it = callers_.find(line);
    return it == callers_.end() ? nullptr : &it->second.line;
  }
  void Prove(LineId line) { queue_.Prove(line); }
  /// Removes a caller that has identified itself. The machine then handles its connection.
  HeldCaller Take(LineId line) {
    auto node = callers_.extract(line);
    RINGLET_ASSERT(!node.empty());
    queue_.Remove(line);
    return std::move(node.mapped());
  }
  /// Hangs up, and logs it.
  void RejectCaller(LineId line, const std::string& why) {
    EmitNote(log_.NoteRejection(callers_.at(line).from, why));
    emit_(Hangup{.line = line, .of_stranger = true});
    Take(line);
  }
  /// Returns true if the connection was a caller's.
  bool OnClosed(LineId line) {
    if (!callers_.contains(line)) return false;
    EmitNote(log_.NoteHangup(Take(line).from));
    return true;
  }
  void Expire(Instant now) {
    while (const auto expired = queue_.Expired(now))
      RejectCaller(*expired, "it did not introduce itself in time");
  }
  std::optional<Instant> Deadline(Instant now) const { return queue_.Deadline(now); }
  /// Hangs up on all callers without logging.
  void Clear() {
    for (const auto& [line, caller] : callers_) {
      emit_(Hangup{line});
      queue_.Remove(line);
    }
    callers_.clear();
  }
  std::size_t size() const { return callers_.size(); }
  const RejectionLog& log() const { return log_; }

 protected:
  void EmitNote(std::optional<Note> note) {
    if (note) emit_(std::move(*note));
  }
  std::map<LineId, HeldCaller>& all() { return callers_; }
  const Emit& emit() const { return emit_; }

 private:
  CallerQueue queue_;
  RejectionLog log_;
  Emit emit_;
  std::map<LineId, HeldCaller> callers_;
};

}  // namespace ringlet
