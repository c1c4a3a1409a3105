// One rank on the control network, from the first dial to the last frame.
//
//   Joining:  reach the root, or the node leader of this host; check in; then
//       tree    receive the roster from the parent (the top: from the root) piece by piece, dial
//               the children as soon as their addresses arrive, pass the pieces on, report to the
//               parent when all ranks below are connected, and finish when the top sends kGo;
//       ring    learn the next rank from the root, connect to it, gather all member addresses
//               around the ring, report to the root, and finish when it sends kDone.
//   Standing: groups (the world, and those formed from it) over these connections: all-gather,
//             barrier, tagged messages. A rank that dies or falls silent fails all its groups.
//             Ranks pass a group's failure on to all of its ranks, with origin and reason.
//   Over:     joining failed (failure() contains the reason), or every group was left.
//
// Each state is a type that handles its frames, and ends by returning the next state. The Member
// keeps the data that outlives a state. bootstrap/states lists the frames that each state accepts.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/wire/machine.hpp"
#include "bootstrap/member/joining.hpp"
#include "bootstrap/member/standing.hpp"

namespace ringlet::bootstrap {

class Member final : public Machine {
 public:
  using RankAbsence = bootstrap::RankAbsence;

  /// \param config  rank < size, arity >= 1, at least one root; checked by the caller.
  explicit Member(MemberConfig config);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return std::holds_alternative<MemberOver>(state_); }
  bool Accepting() const override { return connections().callers().HasRoom(common_.now); }

  // ---- Results.
  MemberState state() const;
  bool standing() const { return std::holds_alternative<StandingMember>(state_); }
  /// The failure of joining or of the group.
  const std::optional<Failure>& failure(GroupId group = kWorld) const;
  const Roster& roster(GroupId group = kWorld) const;
  const Milestones& milestones() const { return common_.milestones; }
  /// The present phase of this rank and the ranks that it waits for, as a phrase for messages.
  std::string Phase(GroupId group = kWorld) const;
  std::size_t lines() const {
    return connections().lines().size() + connections().callers().size();
  }

  // ---- Commands for a standing member, by ranks of the group. The owner then gives the machine a
  // turn.
  /// Forms a group of some ranks of another group, in the given order. Its ranks all make this
  /// call, and may use the group at once. A dead or absent rank among them fails the group.
  /// \param id     not used before on these connections
  /// \param ranks  of `parent`, including this rank
  Status Form(GroupId id, GroupId parent, const std::vector<std::uint32_t>& ranks, Instant now);
  /// Forms a group of the ranks of another group that are not lost, as far as this rank knows, and
  /// returns the lost ranks of `parent`, ascending. All remaining ranks make this call. If they
  /// know of different lost ranks, the group fails with kPeerLost on all of them. Some of them have
  /// then learned of more lost ranks, and all make the call again, with the next id.
  ///
  /// \param id  the same on all ranks, even if they formed `parent` in different attempts
  ///
  /// Errors  kPeerLost  the other ranks have lost this one
  ///
  /// Cost    see CreateReformed
  Result<std::vector<std::uint32_t>> Reform(GroupId id, GroupId parent, Instant now);
  /// Begins an all-gather or barrier of all ranks; one at a time.
  void Gather(bool barrier, Bytes payload, GroupId group = kWorld);
  std::optional<Table> TakeTable(GroupId group = kWorld);
  /// Sends `message` to `to`, which finds it under (this rank, tag).
  void Post(Rank to, std::uint64_t tag, Bytes message, Instant now, GroupId group = kWorld);
  std::optional<Bytes> TakeMessage(Rank from, std::uint64_t tag, GroupId group = kWorld);
  /// The oldest message with a tag of at least kPushedTag.
  std::optional<PushedMessage> TakePushed(GroupId group = kWorld);
  /// Requests the activity of another rank. Its machine answers even while its caller is busy.
  void Ask(Rank whom, Instant now, GroupId group = kWorld);
  std::optional<Activity> TakeAnswer(Rank from, GroupId group = kWorld);
  /// The fate of a rank that does not answer. kUnknown if it is not known.
  RankAbsence AbsenceOf(Rank whom, GroupId group = kWorld) const;

  // ---- Commands in any state.
  /// Fails the group on all its ranks, with this rank as the origin.
  /// \param lost  the rank to name as the origin instead if the code is kPeerLost, or kNoOrigin
  void Abort(Code code, const std::string& why, GroupId group = kWorld,
             std::uint32_t lost = kNoOrigin);
  /// Returns true if ranks that this one notified of the group's failure have not answered yet. If
  /// this rank left now, they and the ranks behind them might not learn of the failure.
  bool AwaitsFailureAnswers(GroupId group = kWorld) const;
  /// Leaves a group, failed or not, in good order. The others continue without a failure as long as
  /// they need nothing of this rank. After the last group the connections close.
  void Leave(GroupId group = kWorld);

 private:
  using Line = Connections::Line;
  struct PendingLoss {  // a connection to a rank closed, for a reason that is not certain yet
    std::string what;
    Instant expires;
  };

  void OnTick();
  void OnReceived(const Received& event);
  void OnCallReceived(const Received& event);
  void OnOpened(Connections::Calls::iterator made, Dialler::Opened opened);
  void OnClosed(const Closed& event);
  void OnLineClosed(const Line& line, const std::string& why);
  void OnLost(std::uint32_t peer, Code code, const std::string& why);
  void ExpireSuspicions();
  void ExpireCalls();
  void SendHeartbeats();
  void Pump(LineId id);
  void OnFrame(LineId id, Line& line, const Frame& frame);
  bool Accepts(MemberLine line, std::uint8_t frame) const;
  void OnBroken(LineId id, const std::string& why);
  /// Passes an event to the present state.
  void Dispatch(auto handler) {
    std::visit(Overloaded{std::move(handler), [](MemberOver&) {}}, state_);
    ChangeState();
  }
  /// Queries the present state. \param if_over  the result if the member is over
  template <class T>
  T FromState(T if_over, auto query) const {
    return std::visit(Overloaded{[&](const auto& at) -> T { return query(at); },
                                 [&](const MemberOver&) { return if_over; }},
                      state_);
  }
  void ChangeState();

  GroupProtocol* Find(GroupId group) const;
  JoiningMember* joining() { return std::get_if<JoiningMember>(&state_); }
  Connections& connections() { return common_.connections; }
  const Connections& connections() const { return common_.connections; }

  MemberCommon common_;
  std::variant<JoiningMember, StandingMember, MemberOver> state_;
  std::map<std::uint32_t, PendingLoss> suspicions_;  // by rank
};

}  // namespace ringlet::bootstrap
