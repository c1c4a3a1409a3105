// Decides what happens to the processes of a job when one ends badly or the user wants an end.
// Told what happened and what time it is; says which signal to send. Does nothing itself.
#pragma once
#include <optional>
#include <vector>

#include "base/wire/machine.hpp"
#include "programs/child.hpp"
#include "ringlet/types.hpp"

namespace ringlet::cli {

/// The end of one rank's process.
struct RankEnd {
  Rank rank{};
  os::ChildExit how;
};

class Supervisor {
 public:
  /// \param ranks  processes that run
  /// \param grace  what they get to end by themselves after they were told to
  /// \param keep_going  a rank that ends badly does not end the others
  Supervisor(std::uint32_t ranks, Instant grace, bool keep_going = false)
      : running_(ranks), grace_(grace), keep_going_(keep_going) {}

  /// The ends that were noticed together. Their order is not known. A rank that was killed is a
  /// cause, one that gave up may be a consequence: when a process is killed, its connections close
  /// before its end is told, so its peers may be seen to end first. Hence the wait of kSettling.
  void OnEnds(const std::vector<RankEnd>& ends, Instant now);
  /// The user sent us SIGINT, SIGTERM or SIGHUP. It is passed on; the second one ends all at once.
  void OnSignal(int signal, Instant now);
  void OnTick(Instant now);

  /// The next signal to send to all ranks that still run.
  std::optional<int> TakeOrder();
  static constexpr Instant kSettling = std::chrono::milliseconds(200);  // usually far below 1 ms

  /// When to call OnTick at the latest.
  std::optional<Instant> Deadline() const;
  bool finished() const { return running_ == 0; }

  /// The first rank that ended badly, before we told any to end. With `keep_going` the first one
  /// that was not killed: killed ranks count only if there is no other.
  const std::optional<RankEnd>& first_failure() const { return first_failure_; }
  /// The user's first signal.
  std::optional<int> user_signal() const { return user_signal_; }

 private:
  /// Whether a cause may still show up for the suspect's end.
  bool IsSettling() const { return suspect_ && !first_failure_ && !user_signal_ && !keep_going_; }
  void Conclude(Instant now);
  void EndAll(int signal, Instant now);

  void NoteEnds(const std::vector<RankEnd>& ends);

  std::uint32_t running_;
  Instant grace_;
  bool keep_going_;
  bool has_survivor_ = false;  // a rank that ended and was not killed
  std::optional<RankEnd> suspect_;
  Instant settled_{0};
  std::optional<RankEnd> first_failure_;
  std::optional<int> user_signal_;
  std::optional<Instant> grace_ends_;
  std::vector<int> orders_;
};

}  // namespace ringlet::cli
