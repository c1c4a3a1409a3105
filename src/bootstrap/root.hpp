// The root: collects one check-in from every rank, then lets the members connect to each other.
//
// States: empty -> gathering (after the first check-in, which defines size, shape and deadline) ->
// connecting (the roster is out; until the members report that they are connected) -> closing (in a
// tree, where nobody waits for its word: a moment later, so that it is in nobody's way) ->
// finished. Whatever goes wrong is told to every member that has checked in, on the line it already
// holds; the root then stays for a while as refusing, so that those who come late hear the reason
// too.
//
// One line may check in many ranks: those of a host whose node leader holds it. Where there are
// several roots each collects a share of the ranks, and the root delegate of a share (whoever
// checked in its first rank) carries what was collected to the first root, which does the rest.
#pragma once
#include <map>
#include <set>

#include "base/wire/callers.hpp"
#include "base/wire/machine.hpp"
#include "base/wire/wire.hpp"
#include "bootstrap/protocol.hpp"

namespace ringlet::bootstrap {

struct RootConfig {
  Credentials credentials;
  Secret nonce_seed{};
  std::string host;  ///< where this root runs, for messages
  std::uint32_t pid = 0;
  Instant handshake_timeout =
      std::chrono::seconds(10);  ///< for a caller to prove and introduce itself
  /// A member that is not heard of for so long is lost; 0: never. Every quarter of it the root says
  /// a word itself.
  Instant silence_max = std::chrono::seconds(60);
  LineOptions lines = {};  ///< of every connection; the same as the members'
  /// Callers that have proven nothing yet; the others wait in the listener's queue
  /// (base/wire/callers). At least 1, and well below the number of descriptors that the process may
  /// hold.
  std::size_t half_open_max = 32'768;
  /// Strangers that get a log line of their own; the rest are counted.
  std::uint32_t strangers_noted_max = 32;
};

/// Limits of what one communicator may be.
inline constexpr std::uint32_t kSizeMax = 1u << 24;

/// How long a root that has refused a job stays to tell latecomers, at most.
inline constexpr Instant kRefusalMost = std::chrono::minutes(10);

/// How long a root whose work is done leaves the members to themselves before it says so.
inline constexpr Instant kCloseAfter = std::chrono::milliseconds(20);

/// How much earlier than the members' own deadline the root gives up, so that it, which knows who
/// is missing, speaks first: a twentieth of the time, between 20 ms and 2 s.
Instant LadderStep(Instant timeout);

class Root final : public Machine {
 public:
  explicit Root(RootConfig config)
      : config_(std::move(config)),
        nonces_(config_.nonce_seed),
        callers_(config_.half_open_max, config_.handshake_timeout) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return state_ == State::kFinished; }
  bool Accepting() const override { return callers_.HasRoom(now_); }

  /// Gives up, telling every member why. For an owner that goes away.
  void Abort(const std::string& why);

  std::uint32_t checked_in() const { return static_cast<std::uint32_t>(members_.size()); }
  std::uint32_t strangers() const { return strangers_; }

 private:
  enum class State : std::uint8_t {
    kEmpty,
    kGathering,
    kConnecting,
    kClosing,
    kRefusing,
    kFinished
  };
  struct Guest {
    Wire wire;
    Address from;
    Instant heard;
    std::optional<std::uint32_t> rank = {};  // of whoever holds the line, once introduced
    Bytes record = {};                       // its encoded Member address
    std::vector<std::uint32_t> ranks = {};   // checked in on this line
    std::optional<RosterInbox> section = {};
    bool ready = false;
  };
  struct MemberSeen {
    LineId line;
    RankRecord record;
  };
  using GuestAt = std::map<LineId, Guest>::iterator;

  void OnAccepted(const Accepted& event, Instant now);
  void OnReceived(const Received& event, Instant now);
  void OnBrokenStream(LineId line, const Guest& guest, const Error& error);
  void OnClosed(const Closed& event);
  void OnTick(Instant now);
  void Beat(Instant now);
  void OnFrame(GuestAt guest, const Frame& frame);
  void OnFirstFrame(GuestAt guest, const Frame& frame);
  void OnCheckIn(GuestAt guest, CheckIn check_in);
  void OnLocalRank(GuestAt guest, const Frame& frame);
  void OnSection(GuestAt guest, const Frame& frame);
  std::optional<std::string> WhyUnfit(const CheckIn& check_in) const;
  bool IsMine(const CheckIn& check_in) const;
  void Introduce(GuestAt guest, const CheckIn& check_in);
  void AdmitOrRefuse(GuestAt guest, const CheckIn& check_in, Bytes record,
                     std::uint32_t node_leader);
  void SayWelcome(GuestAt guest, const CheckIn& check_in);
  void DistributeIfComplete();
  void SendRoster(FrameType type, std::uint32_t to, const Roster& roster);
  void SendNeighbours();
  void OnReady(Guest& guest);
  void Finish();
  void Reject(LineId line, const Failure& failure);
  void RejectAll(const Failure& failure);
  void Refuse(LineId line, std::uint32_t rank);
  void End();
  void DropStranger(LineId line, const std::string& why);
  std::string DescribeMember(std::uint32_t rank) const;
  std::string MissingText() const;
  PlaceRange Mine() const;
  PlaceRange Expected() const;
  void SendFrame(LineId line, Bytes frame) {
    if (const auto it = guests_.find(line); it != guests_.end())
      Say(line, it->second, Slice(Share(std::move(frame))));
  }
  void Say(LineId line, Guest& guest, const Slice& frame) {
    Emit(Send{line, guest.wire.Seal(frame)});
  }

  RootConfig config_;
  NonceSource nonces_;
  State state_ = State::kEmpty;
  CheckIn first_;
  Bytes first_record_;
  Instant deadline_{0};
  Instant beat_due_{0};
  Instant now_{0};
  std::optional<Failure> refusal_;  // told to whoever comes when it has failed already
  std::set<std::uint32_t> told_;    // ranks that know
  std::map<LineId, Guest> guests_;
  Callers callers_;  // whose guests have no rank yet
  std::map<std::uint32_t, MemberSeen> members_;
  std::optional<std::uint32_t> hosted_rank_;
  std::uint32_t ready_ = 0;
  std::uint32_t strangers_ = 0;
};

}  // namespace ringlet::bootstrap
