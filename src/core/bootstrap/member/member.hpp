// One rank on the control network, from the first dial to the last word.
//
// Joining:  reach the root, or the rank of this host that speaks for all of it; check in; then
//   tree    take the roster from the parent (the top: from the root) piece by piece, dial the
//           children as soon as their addresses have come, pass the pieces on, report upwards when
//           all below are connected, and go when the top says so;
//   ring    learn the next rank from the root, connect to it, gather all member addresses around
//           the ring, report to the root, and go when it says that all are done.
// Standing: groups (the world, and those formed from it) over the connections made: all-gather,
//           barrier, tagged messages; a rank that dies or falls silent fails every group that it is
//           in, and a group's failure is passed on to all its ranks with its origin and reason.
// Over:     joining failed (failure() says why), or every group was left.
//
// Each state is a type that handles the frames that it accepts, and ends by giving the next one;
// the Member keeps what outlives a state. Which frames are accepted in each state:
// bootstrap/states.
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
  using Presence = bootstrap::Presence;

  /// \param config  rank < size, arity >= 1, a root; checked by the caller.
  explicit Member(MemberConfig config);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return std::holds_alternative<MemberOver>(state_); }
  bool Accepting() const override { return connections().callers().HasRoom(common_.now); }

  // ---- What came of it.
  MemberState state() const;
  bool standing() const { return std::holds_alternative<Standing>(state_); }
  /// Why joining failed, or why the group has.
  const std::optional<Failure>& failure(GroupId group = kWorld) const;
  const Roster& roster(GroupId group = kWorld) const;
  const Milestones& milestones() const { return common_.milestones; }
  /// The present phase of this rank and the ranks that it waits for, as a phrase for messages.
  std::string Phase(GroupId group = kWorld) const;
  std::size_t lines() const {
    return connections().lines().size() + connections().callers().size();
  }

  // ---- Commands, when standing, by ranks of the group. The owner gives the machine a turn
  // afterwards.
  /// Forms a group of some ranks of another group, in the order given; its ranks form it alike and
  /// may then use it at once. Those who are dead or gone fail it.
  /// \param id     not used before on these connections
  /// \param ranks  of `parent`, this one among them
  Status Form(GroupId id, GroupId parent, const std::vector<std::uint32_t>& ranks, Instant now);
  /// Begins an all-gather (or barrier) of all ranks; one at a time.
  void Gather(bool barrier, Bytes payload, GroupId group = kWorld);
  std::optional<Table> TakeTable(GroupId group = kWorld);
  /// Sends `message` to `to`; `to` finds it under (this rank, tag).
  void Post(Rank to, std::uint64_t tag, Bytes message, Instant now, GroupId group = kWorld);
  std::optional<Bytes> TakeMessage(Rank from, std::uint64_t tag, GroupId group = kWorld);
  /// The oldest message with a tag of kPushedTag or more.
  std::optional<PushedMessage> TakePushed(GroupId group = kWorld);
  /// Asks another rank what it is doing; its machine answers even while its caller is elsewhere.
  void Ask(Rank whom, Instant now, GroupId group = kWorld);
  std::optional<Activity> TakeAnswer(Rank from, GroupId group = kWorld);
  /// The fate of a rank that does not answer, if that is known.
  Presence PresenceOf(Rank whom, GroupId group = kWorld) const;

  // ---- Commands, at any time.
  /// Fails the group on all its ranks, with this rank as the origin.
  void Abort(Code code, const std::string& why, GroupId group = kWorld);
  /// Ranks that this one tells of the group's failure have not said yet that they know: leaving now
  /// could keep it from them, and from those behind them.
  bool OwesNews(GroupId group = kWorld) const;
  /// Leaves a group in good order (or one that has failed); the others may go on without a failure
  /// as long as they need nothing of us. After the last one the connections close.
  void Leave(GroupId group = kWorld);

 private:
  using Line = Connections::Line;
  struct Suspicion {  // a line to a rank closed, and why is not yet certain
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
  void Beat();
  void Pump(LineId id);
  void OnFrame(LineId id, Line& line, const Frame& frame);
  bool Accepts(MemberLine line, std::uint8_t frame) const;
  void OnBroken(LineId id, const std::string& why);
  /// Hands an event to the present state.
  void Hand(auto handler) {
    std::visit(Overloaded{std::move(handler), [](MemberOver&) {}}, state_);
    ChangeState();
  }
  /// The answer of the present state. \param if_over  where there is none any more
  template <class T>
  T FromState(T if_over, auto query) const {
    return std::visit(Overloaded{[&](const auto& at) -> T { return query(at); },
                                 [&](const MemberOver&) { return if_over; }},
                      state_);
  }
  void ChangeState();

  Group* Find(GroupId group) const;
  Joining* joining() { return std::get_if<Joining>(&state_); }
  Connections& connections() { return common_.connections; }
  const Connections& connections() const { return common_.connections; }

  MemberCommon common_;
  std::variant<Joining, Standing, MemberOver> state_;
  std::map<std::uint32_t, Suspicion> suspicions_;  // by rank
};

}  // namespace ringlet::bootstrap
