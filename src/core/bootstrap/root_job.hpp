// The job that a root gathers: its first check-in, which fixes what the job is, and the
// record of each rank that has come. It judges check-ins and sections, and names missing ranks.
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

/// Limits of what one communicator may be.
inline constexpr std::uint32_t kSizeMax = 1u << 24;

/// How much earlier than the members' own deadline the root gives up, so that it, which knows who
/// is missing, speaks first: a twentieth of the time, between 20 ms and 2 s.
Instant LadderStep(Instant timeout);
/// When the root gives up for the sake of a rank that checks in now.
Instant GiveUpAt(const CheckIn& check_in, Instant now);

/// "rank 3 (host node7, pid 4711)"; just "rank 3" where the record does not parse.
std::string DescribeRecord(std::uint32_t rank, View record);

/// Why `check_in` contradicts itself; empty if it does not.
std::optional<std::string> WhyUnfit(const CheckIn& check_in);

/// True: the rank checks in at this root. False: it only brings other ranks that do.
bool IsOfThisRoot(const CheckIn& check_in);

/// A rank that checks in on the line of its node leader.
struct JoinedLocalRank {
  CheckIn check_in;
  Bytes record;  ///< its encoded member address
};
/// \param leader_record  the record to which the frame's difference applies
/// Errors  kProtocol  the frame does not parse.
Result<JoinedLocalRank> ReadLocalRank(View leader_record, View frame);

class RootJob {
 public:
  struct JobMember {
    LineId line;  ///< on which it checked in
    RankRecord record;
  };

  RootJob(CheckIn first, Bytes first_record)
      : first_(std::move(first)), first_record_(std::move(first_record)) {}

  const CheckIn& first() const { return first_; }
  bool IsRing() const { return first_.shape == Shape::kRing; }
  bool IsFirstRoot() const { return first_.root.index == 0; }
  const std::map<std::uint32_t, JobMember>& members() const { return members_; }

  /// The ranks that check in at this root.
  PlaceRange Mine() const;
  /// The ranks that it collects: the first root those of all the others, too.
  PlaceRange Expected() const;
  bool IsComplete() const { return members_.size() >= Expected().count; }
  /// The members that it expects, all of which are there.
  Roster BuildRoster() const;

  /// Why `check_in` cannot be of this job; empty if it can.
  std::optional<std::string> WhyUnlikeFirst(const CheckIn& check_in) const;
  void Admit(std::uint32_t rank, JobMember member) { members_.emplace(rank, std::move(member)); }
  /// Takes the records that another root has collected. Errors  kProtocol  they are of ranks that
  /// are here already or cannot be, or do not parse.
  Status AdmitSection(LineId line, const Roster& section);

  std::string Describe(std::uint32_t rank) const;
  /// The ranks that are not there, as in "ranks 3-5: 3 of 6 ranks checked in, from node7 (3)", and
  /// the callers that were no ranks.
  std::string MissingText(const StrangerLog& log) const;
  /// ": rank 3 (...) is stopped" of the first member that is; empty if none is.
  std::string StoppedMember(const IsStopped& is_stopped) const;

 private:
  CheckIn first_;
  Bytes first_record_;  // its encoded member address
  std::map<std::uint32_t, JobMember> members_;
};

/// StoppedText of the process that `record` names; empty where it does not parse.
std::string WhyStopped(const IsStopped& is_stopped, View record);

}  // namespace ringlet::bootstrap
