// Decides the fate of a job's processes when one fails or the user ends the job. It receives events
// with times and returns the signals to send. It does not act itself.
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
  /// \param ranks  number of running processes
  /// \param grace  time for processes to exit after a request to end
  /// \param keep_going  a failed rank does not end the others
  Supervisor(std::uint32_t ranks, Instant grace, bool keep_going = false)
      : running_(ranks), grace_(grace), keep_going_(keep_going) {}

  /// Processes ends that were noticed together, in unknown order. A killed rank is a cause. A rank
  /// that gave up may be a consequence: the connections of a killed process close before its end is
  /// visible, so its peers may seem to end first. Hence the wait of kSettling.
  void OnEnds(const std::vector<RankEnd>& ends, Instant now);
  /// Processes a SIGINT, SIGTERM or SIGHUP from the user. The signal is passed on to the ranks. The
  /// second one kills all ranks at once.
  void OnSignal(int signal, Instant now);
  void OnTick(Instant now);

  /// Returns the next signal to send to all running ranks.
  std::optional<int> TakeOrder();
  static constexpr Instant kSettling = std::chrono::milliseconds(200);  // usually far below 1 ms

  /// Returns the latest time for the next call of OnTick.
  std::optional<Instant> Deadline() const;
  bool finished() const { return running_ == 0; }

  /// The first rank that failed before the supervisor ended any. With `keep_going`, a killed rank
  /// is returned only if no other rank failed.
  const std::optional<RankEnd>& first_failure() const { return first_failure_; }
  /// The user's first signal.
  std::optional<int> user_signal() const { return user_signal_; }

 private:
  /// Returns true if the cause of the suspect's end may still appear.
  bool IsSettling() const { return suspect_ && !first_failure_ && !user_signal_ && !keep_going_; }
  void Conclude(Instant now);
  void EndAll(int signal, Instant now);

  void NoteEnds(const std::vector<RankEnd>& ends);

  std::uint32_t running_;
  Instant grace_;
  bool keep_going_;
  bool has_survivor_ = false;  // a rank has ended without being killed
  std::optional<RankEnd> suspect_;
  Instant settled_{0};
  std::optional<RankEnd> first_failure_;
  std::optional<int> user_signal_;
  std::optional<Instant> grace_ends_;
  std::vector<int> orders_;
};

}  // namespace ringlet::cli
