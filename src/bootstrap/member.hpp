// One rank of a communicator on the control network, from the first dial to the last word.
//
// Joining:  dial the root, check in, be welcomed; then
//   tree    take the roster from the parent (rank 0: from the root), pass it to the children,
//   report
//           upwards when all below are connected, and go when rank 0 says so;
//   ring    learn the next rank from the root, connect to it, gather everybody's introduction round
//           the ring, report to the root, and go when it says that all are done.
// Standing: all-gather, barrier and tagged messages over the connections made; a failure anywhere
// is
//           passed on over all of them, so it reaches every rank with its origin and reason.
// Over:     failed (failure() says why) or left.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>

#include "base/dialler.hpp"
#include "base/machine.hpp"
#include "bootstrap/gather.hpp"
#include "bootstrap/mailbox.hpp"
#include "bootstrap/protocol.hpp"
#include "bootstrap/tree.hpp"

namespace ringlet::bootstrap {

struct MemberConfig {
  Credentials credentials;
  Secret nonce_seed{};
  Rank rank{};
  std::uint32_t size = 0;
  std::vector<Address> roots;
  Introduction introduction;
  Shape shape = Shape::kTree;
  std::uint16_t arity = 8;
  Instant timeout = std::chrono::seconds(300);           ///< for joining, from the first Tick
  Instant handshake_timeout = std::chrono::seconds(10);  ///< for a caller to prove itself
  std::size_t half_open_max = 1024;
  std::uint32_t strangers_noted_max = 32;
  MailboxLimits mailbox;
  std::function<Activity()> activity;  ///< what to answer when another rank asks; none: nothing
};

class Member final : public Machine {
 public:
  /// \param config  rank < size, arity >= 1; checked by the caller.
  explicit Member(MemberConfig config);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return state_ == State::kOver; }

  // ---- What came of it.
  bool standing() const { return state_ == State::kStanding; }
  const std::optional<Failure>& failure() const { return failure_; }
  const Roster& roster() const { return roster_; }
  /// What this rank is doing and for whom it waits, as a phrase for messages.
  std::string Phase() const;

  // ---- Commands, when standing. The owner gives the machine a turn afterwards.
  /// Begins an all-gather (or barrier) of all ranks; one at a time.
  void Gather(bool barrier, Bytes payload);
  std::optional<Table> TakeTable() { return std::exchange(table_, std::nullopt); }
  /// Sends `message` to `to`; `to` finds it under (this rank, tag).
  void Post(Rank to, std::uint64_t tag, Bytes message, Instant now);
  std::optional<Bytes> TakeMessage(Rank from, std::uint64_t tag) {
    return mailbox_.Take(from, tag);
  }
  /// Asks another rank what it is doing; its machine answers even while its caller is elsewhere.
  void Ask(Rank whom, Instant now);
  std::optional<Activity> TakeAnswer(Rank from);

  // ---- Commands, at any time.
  /// Fails the communicator on all ranks, with this rank as the origin.
  void Abort(Code code, const std::string& why);
  /// Leaves in good order; the others may go on without a failure as long as they need nothing of
  /// us.
  void Leave();

 private:
  enum class State : std::uint8_t { kJoining, kStanding, kOver };
  enum class Role : std::uint8_t {
    kCaller,
    kRoot,
    kParent,
    kChild,
    kNext,
    kPrevious,
    kPeerIn,
    kPeerOut
  };
  struct Line {
    Role role = Role::kCaller;
    std::uint32_t peer = 0;  // rank; meaningless for kCaller and kRoot
    Wire wire;
    Address from{};
    Instant expires{0};  // kCaller
    bool left = false;
    bool ready = false;  // kChild
  };
  struct Outgoing {  // a line that is still being made
    Role role;
    std::uint32_t peer;
    Dialler dialler;
    Instant expires;
    std::vector<Bytes> waiting;  // frames to send as soon as it stands
  };

  void Begin(Instant now);
  void OnTick(Instant now);
  void OnConnected(LineId line);
  void OnAccepted(const Accepted& event, Instant now);
  void OnReceived(const Received& event, Instant now);
  void OnClosed(const Closed& event, Instant now);
  void OnLineClosed(const Line& line, const std::string& why);
  void OnRootClosed(const std::string& why);
  void OnOpened(std::list<Outgoing>::iterator outgoing, Dialler::Opened opened);
  void Pump(LineId id);
  void OnFrame(LineId id, Line& line, const Frame& frame);
  void OnIdentify(LineId id, Line& line, const Frame& frame);
  void OnRootFrame(Line& line, const Frame& frame);
  void OnParentFrame(const Frame& frame);
  void OnChildFrame(Line& line, const Frame& frame);
  void OnPreviousFrame(const Frame& frame);
  void OnPeerFrame(const Line& line, const Frame& frame);
  void OnRoster(const Frame& frame);
  void OnNeighbour(const Frame& frame);
  void FinishRingRoster(const Table& table);

  void PostFrame(Rank to, Bytes frame);
  void Connect(Role role, std::uint32_t peer, const std::vector<Address>& addresses,
               Instant expires);
  void ConnectToChildren();
  void ReportIfReady();
  void Go();
  void AdvanceGather(const Status& status, std::uint32_t peer);
  static bool IsNeeded(const Line& line);
  void RequirePresent();

  void DropCaller(LineId id, const std::string& why);
  void FailHere(Code code, const std::string& text) { Fail({code, Index(config_.rank), text}); }
  Failure FailureOf(std::uint32_t peer, Code code, const std::string& what) const;
  void FailOn(std::uint32_t peer, Code code, const std::string& what);
  void Fail(const Failure& failure);
  void CloseAll(const SharedBytes& last_word);
  std::string Name(std::uint32_t rank) const;
  void SendFrame(LineId line, Bytes frame) { Emit(Send{line, Slice(Share(std::move(frame)))}); }
  void SendPayload(LineId line, FrameType type, const Slice& payload);
  LineId LineOf(Role role, std::uint32_t peer) const;
  bool is_tree() const { return config_.shape == Shape::kTree; }

  MemberConfig config_;
  NonceSource nonces_;
  TreePlace place_;
  State state_ = State::kJoining;
  Instant now_{0};
  Instant started_{0};
  LineId next_line_ = 1;
  std::map<LineId, Line> lines_;
  std::list<Outgoing> outgoing_;
  bool checked_in_ = false;
  bool root_done_ = false;
  bool reported_ = false;
  std::optional<Welcome> welcome_;
  Roster roster_;
  std::optional<TreeGather> tree_;
  std::optional<RingGather> ring_;
  std::optional<Table> table_;
  Mailbox mailbox_;
  std::map<std::uint32_t, std::optional<Activity>> answers_;  // by rank, of those that were asked
  std::optional<Failure> failure_;
  std::optional<Failure> suspicion_;  // a line closed, and why is not yet certain
  Instant suspicion_expires_{0};
  std::uint32_t gathers_ = 0;
  std::uint32_t strangers_ = 0;
};

}  // namespace ringlet::bootstrap
