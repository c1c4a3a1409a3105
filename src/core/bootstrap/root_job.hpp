// The job that a root gathers: its first check-in, which defines the job, and the record of each
// rank that has checked in. It validates check-ins and sections, and names missing ranks.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/wire/callers.hpp"
#include "base/wire/machine.hpp"
#include "bootstrap/protocol.hpp"
#include "bootstrap/roster.hpp"

namespace ringlet::bootstrap {

/// Maximum number of ranks of a communicator.
inline constexpr std::uint32_t kSizeMax = 1u << 24;

/// The root gives up this much earlier than its members, because it can name the missing ranks: a
/// twentieth of the timeout, between 20 ms and 2 s.
Instant LadderStep(Instant timeout);
/// The time at which the root gives up because of a rank that checks in now.
Instant RootDeadline(const CheckIn& check_in, Instant now);

/// "rank 3 (host node7, pid 4711)"; only "rank 3" if the record does not parse.
std::string DescribeRecord(std::uint32_t rank, View record);

/// The contradiction within `check_in`. Empty if none exists.
std::optional<std::string> WhyUnfit(const CheckIn& check_in);

/// True if the rank checks in at this root. False if it only brings other ranks.
bool IsOfThisRoot(const CheckIn& check_in);

/// A rank that checks in on the connection of its node leader.
struct JoinedLocalRank {
  CheckIn check_in;
  Bytes record;  ///< its encoded member address
};
/// \param leader_record  the base of the frame's difference
/// Errors  kProtocol  the frame does not parse.
Result<JoinedLocalRank> ReadLocalRank(View leader_record, View frame);

class RootJob {
 public:
  struct JobMember {
    LineId line;  ///< the connection on which it checked in
    RankRecord record;
  };

  RootJob(CheckIn first, Bytes first_record)
      : first_(std::move(first)), first_record_(std::move(first_record)) {}

  const CheckIn& first() const { return first_; }
  bool IsRing() const { return first_.shape == Shape::kRing; }
  bool IsFirstRoot() const { return first_.root.index == 0; }
  const std::map<std::uint32_t, JobMember>& members() const { return members_; }

  /// The ranks that check in at this root.
  PlaceRange RanksOfThisRoot() const;
  /// The ranks that this root collects. The first root also collects the ranks of the other roots.
  PlaceRange Expected() const;
  bool IsComplete() const { return members_.size() >= Expected().count; }
  /// The roster of the expected members. \pre  IsComplete
  Roster BuildRoster() const;

  /// The reason why `check_in` does not belong to this job. Empty if it does.
  std::optional<std::string> WhyUnlikeFirst(const CheckIn& check_in) const;
  void Admit(std::uint32_t rank, JobMember member) { members_.emplace(rank, std::move(member)); }
  /// Takes the records that another root has collected.
  /// Errors  kProtocol  they are records of ranks that are present or impossible, or do not parse.
  Status AdmitSection(LineId line, const Roster& section);

  std::string Describe(std::uint32_t rank) const;
  /// The missing ranks, as in "ranks 3-5: 3 of 6 ranks checked in, from node7 (3)", and the number
  /// of other callers.
  std::string MissingText(const RejectionLog& log) const;
  /// ": rank 3 (...) is stopped" for the first stopped member. Empty if no member is stopped.
  std::string StoppedMember(const IsStopped& is_stopped) const;

 private:
  CheckIn first_;
  Bytes first_record_;  // its encoded member address
  std::map<std::uint32_t, JobMember> members_;
};

/// StoppedText of the process in `record`. Empty if the record does not parse.
std::string WhyStopped(const IsStopped& is_stopped, View record);

}  // namespace ringlet::bootstrap
