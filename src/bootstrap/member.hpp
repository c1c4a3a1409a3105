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
// The steps of joining, and which frames are accepted in each state: bootstrap/states.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>

#include "base/wire/acceptor.hpp"
#include "base/wire/dialler.hpp"
#include "base/wire/machine.hpp"
#include "bootstrap/group.hpp"
#include "bootstrap/states.hpp"

namespace ringlet::bootstrap {

/// The address of a root and the proof that it expects.
struct RootDoor {
  Credentials credentials;
  std::vector<Address> addresses;
  /// It listened before any rank had the id, so its process has ended if none listens there now.
  bool was_there = false;
};

struct MemberConfig {
  /// At least one; the same list on all ranks. The credentials of the first are those of every
  /// connection between members.
  std::vector<RootDoor> roots;
  Secret nonce_seed{};
  Rank rank{};
  std::uint32_t size = 0;
  MemberAddress member_address;
  Shape shape = Shape::kTree;
  std::uint16_t arity = 8;
  /// The address of this host's node leader, a UNIX socket, if there is to be one.
  std::optional<Address> node_leader;
  /// This rank is the node leader: its owner listens there.
  bool speaks = false;
  /// For joining, from the first Tick; a member that has checked in waits a LadderStep longer for
  /// the root's word.
  Instant timeout = std::chrono::seconds(300);
  Instant handshake_timeout = std::chrono::seconds(10);  ///< for a caller to prove itself
  /// A rank that is not heard of for so long is lost; 0: never. Heartbeats are sent every quarter
  /// of it.
  Instant silence_max = std::chrono::seconds(60);
  LineOptions lines = {};  ///< of every connection; the same on all ranks
  /// Callers that have proven nothing yet; the others wait in the listener's queue. More than a
  /// host has ranks: all of them call its node leader at once.
  std::size_t half_open_max = 4096;
  std::uint32_t strangers_noted_max = 32;
  MailboxLimits mailbox;
  /// The answer when another rank of a group asks; none: nothing.
  std::function<Activity(GroupId)> activity;
  IsStopped is_stopped;                ///< asked of a rank that does not answer
  std::shared_ptr<RosterShelf> shelf;  ///< of the process; may be null
};

/// When this rank got how far; zero: not yet.
struct Milestones {
  Instant started{0};
  Instant called{0};     ///< connected to the root or node leader, and checked in
  Instant roster{0};     ///< knows all ranks
  Instant connected{0};  ///< all below are connected
  Instant standing{0};
};

// The data of a member in each of its states.

struct MemberJoining {
  MemberState step = MemberState::kCalling;  // to kReported
  std::optional<Welcome> welcome = {};       // of the own root
  std::vector<LineId> root_lines;            // by root; 0: none
  std::vector<bool> root_seen;               // by root: it was connected once
  LineId upper = 0;                          // to the parent or node leader
  std::vector<CheckIn> local_ranks = {};     // of which this rank is the node leader
  RosterInbox inbox = {};
  std::optional<PlaceRange> subtree = {};  // among the node leaders
  std::vector<PlaceRange> below = {};
  std::size_t dialled = 0;         // of `below`
  std::uint32_t opened = 0;        // children that get the pieces
  std::uint32_t ready = 0;         // children that have all below them connected
  std::vector<Slice> pieces = {};  // of the roster, for children that are not connected yet
};

// A group that this rank has left, for ranks that still count on it there.
struct GroupLeft {
  std::uint64_t digest = 0;           // of the list of its ranks
  std::optional<Slice> failure = {};  // the frame that tells of its failure
};

struct MemberStanding {
  std::unordered_map<std::uint32_t, std::string> lost = {};  // ranks that are gone, and how
  std::unordered_map<GroupId, GroupLeft> left = {};
};

struct MemberOver {
  std::optional<Failure> failure = {};  // of joining
};

class Member final : public Machine {
 public:
  /// \param config  rank < size, arity >= 1, a root; checked by the caller.
  explicit Member(MemberConfig config);
  ~Member() override;

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return std::holds_alternative<Over>(state_); }
  bool Accepting() const override { return acceptor_.HasRoom(now_); }

  // ---- What came of it.
  MemberState state() const;
  bool standing() const { return std::holds_alternative<Standing>(state_); }
  /// Why joining failed, or why the group has.
  const std::optional<Failure>& failure(GroupId group = kWorld) const;
  const Roster& roster(GroupId group = kWorld) const;
  const Milestones& milestones() const { return milestones_; }
  /// The present phase of this rank and the ranks that it waits for, as a phrase for messages.
  std::string Phase(GroupId group = kWorld) const;
  std::size_t lines() const { return lines_.size() + acceptor_.size(); }

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
  enum class Presence : std::uint8_t { kUnknown, kLeft, kAbsent };
  /// The fate of a rank that does not answer, if that is known: it has left the group, or no
  /// process listens at its addresses.
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
  using Role = MemberLine;
  using Joining = MemberJoining;
  using Standing = MemberStanding;
  using Over = MemberOver;
  struct Line {
    Role role;
    std::uint32_t peer;  // rank; of kRoot: which one
    Wire wire;
    Address from{};
    Instant heard{0};
    bool local_rank = false;  // kChild: called us, and checked in through us
    bool ready = false;       // kChild: all below it are connected; kRoot: it has welcomed us
    bool done = false;        // kRoot: its work is done
    bool spoke = false;       // a frame has come on it
  };
  struct Outgoing {  // a line that is still being made
    Role role;
    std::uint32_t peer;
    Dialler dialler;
    Instant expires;
    PlaceRange subtree = {};
    std::vector<Slice> waiting = {};  // to send as soon as it stands
  };
  struct Seat;        // in a group
  struct Suspicion {  // a line to a rank closed, and why is not yet certain
    std::string what;
    Instant expires;
  };
  struct Early {  // for a group that is not formed here yet
    std::uint32_t from;
    FrameType type;
    Slice payload;
  };

  // Events and lines: member.cpp
  void OnTick(Instant now);
  void OnConnected(const Connected& event);
  void OnReceived(const Received& event, Instant now);
  void OnOutgoingReceived(const Received& event, Instant now);
  void OnClosed(const Closed& event, Instant now);
  void OnLineClosed(const Line& line, const std::string& why);
  void OnOpened(std::list<Outgoing>::iterator outgoing, Dialler::Opened opened);
  void Pump(LineId id);
  void OnFrame(LineId id, Line& line, const Frame& frame);
  bool Accepts(Role role, std::uint8_t frame) const;
  bool IsLateFrame(Role role, std::uint8_t frame) const;
  void OnMisfit(LineId id, const Frame& frame);
  void OnBrokenStream(LineId id, const std::string& why);
  void OnCaller(const Acceptor::FirstFrame& caller);
  void OnIdentify(const Acceptor::FirstFrame& caller);
  void Beat(Instant now);
  Instant JoinDeadline() const;
  void ExpireOutgoing(Instant now);
  Outgoing& Connect(Role role, std::uint32_t peer, const Credentials& credentials,
                    const std::vector<Address>& addresses, Instant expires);
  Line& Adopt(LineId id, Role role, std::uint32_t peer);
  void Register(LineId id, const Line& line);
  void SendFrame(LineId line, Bytes frame) { Say(line, Slice(Share(std::move(frame)))); }
  /// Nothing, where the line is gone: its end is being told in its own way.
  void Say(LineId id, const Slice& frame) {
    if (const auto it = lines_.find(id); it != lines_.end()) Say(id, it->second, frame);
  }
  void Say(LineId id, Line& line, const Slice& frame) { Emit(Send{id, line.wire.Seal(frame)}); }
  void SendPayload(LineId line, FrameType type, const Slice& payload);
  void CloseAll(const SharedBytes& to_members, const SharedBytes& to_roots);
  LineId LineOf(Role role, std::uint32_t peer = 0) const;
  std::string Name(std::uint32_t rank) const;
  std::optional<MemberAddress> AddressOf(std::uint32_t rank) const;
  std::string WhyStopped(std::uint32_t rank) const;
  std::string WhySilent(const Line& line) const;

  // Joining: joining.cpp
  void Begin(Instant now);
  void CallRoot(std::uint32_t root);
  void CallRootsFor(std::uint32_t rank);
  void CheckInAt(LineId id, std::uint32_t root);
  void OnRootOpened(LineId id, std::uint32_t root);
  void OnLocalRank(const Acceptor::FirstFrame& caller);
  void SendLocalRank(LineId line, const CheckIn& local_rank);
  void OnRootFrame(LineId id, Line& line, const Frame& frame);
  void OnRootDone(Line& line);
  bool IsRootDelegateOf(std::uint32_t root) const;
  void OnRootClosed(std::uint32_t root, const std::string& why);
  void OnWelcome(const Welcome& welcome);
  void OnUpperFrame(LineId id, Line& line, const Frame& frame);
  void OnChildReady(Line& line);
  void OnRosterPiece(const Frame& frame);
  void OnSectionPiece(const Frame& frame);
  void ConnectToChildren();
  void OnChildOpened(LineId id);
  void FinishRoster();
  Status CheckPlace(const Roster& roster) const;
  void OnNeighbour(const Frame& frame);
  void FinishRingRoster();
  void OpenWorld(TreePlace place);
  void ReportIfReady();
  void Go();
  Instant ChildDeadline() const;
  std::string JoiningPhase() const;
  void FailHere(Code code, const std::string& text) { Fail({code, Index(config_.rank), text}); }
  Failure FailureOf(std::uint32_t peer, Code code, const std::string& what) const;
  void FailOn(std::uint32_t peer, Code code, const std::string& what);
  void Fail(const Failure& failure);
  Joining* joining() { return std::get_if<Joining>(&state_); }
  const Joining* joining() const { return std::get_if<Joining>(&state_); }
  std::uint32_t self() const { return Index(config_.rank); }
  bool is_tree() const { return config_.shape == Shape::kTree; }
  std::uint32_t roots() const { return static_cast<std::uint32_t>(config_.roots.size()); }
  std::uint32_t own_root() const { return RootOfRank(self(), config_.size, roots()); }

  // Standing: standing.cpp
  Seat* FindSeat(GroupId id);
  const Seat* FindSeat(GroupId id) const;
  bool HasLeft(GroupId id) const;
  bool IsLost(std::uint32_t peer) const;
  void OnGroupFrame(const Line& line, const Frame& frame);
  void AnswerForLeft(std::uint32_t from, GroupId id, FrameType type, View payload);
  void OnStranger(Seat& seat, std::uint32_t from, FrameType type);
  void LookForAwaited(Instant now);
  bool CallAwaited(Seat& seat, Instant now);
  void KeepEarly(GroupId id, Early early);
  void Replay(Seat& seat);
  void OnLost(std::uint32_t peer, Code code, const std::string& why);
  void Settle(Seat& seat);
  void SendOut(Seat& seat, Group::Out out);
  void Flood(Seat& seat);
  void OnUnanswered(std::uint32_t peer);
  void TellCallers();
  std::vector<std::uint32_t> TellGroup(const Seat& seat, const Slice& frame);
  void OnFailureFrame(Seat& seat, std::uint32_t from);
  static Slice FailureFrameOf(const Seat& seat);
  void PostTo(std::uint32_t peer, const Slice& frame);
  std::list<Outgoing>::iterator FindCall(std::uint32_t peer);
  bool IsBeingCalled(std::uint32_t peer) { return FindCall(peer) != outgoing_.end(); }

  MemberConfig config_;
  NonceSource nonces_;
  Acceptor acceptor_;
  std::variant<Joining, Standing, Over> state_;
  Instant now_{0};
  Instant beat_due_{0};
  LineId next_line_ = 1;
  std::map<LineId, Line> lines_;
  std::unordered_map<std::uint32_t, LineId> route_to_;  // to a rank: the line that is used
  std::list<Outgoing> outgoing_;
  Milestones milestones_;

  std::map<std::uint32_t, Suspicion> suspicions_;  // by rank

  // Groups, of which the world opens before this rank stands
  Roster roster_;
  std::map<GroupId, std::unique_ptr<Seat>> seats_;
  std::unordered_map<std::uint32_t, Instant> absent_;  // no process listens there, since when
  std::map<GroupId, Instant> awaiting_;  // groups in a collective: when to look after its ranks
  std::map<GroupId, std::vector<Early>> early_;
  std::size_t early_bytes_ = 0, early_frames_ = 0;
};

}  // namespace ringlet::bootstrap
