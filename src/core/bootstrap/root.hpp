// The root: collects one check-in from every rank, then lets the members connect to each other.
//
// bootstrap/states lists its states and the frames that each state accepts. If joining fails, the
// root reports it to every member that has checked in, on its connection. The root then stays in
// state kRefusing for a while, so that late ranks receive the reason too.
//
// One connection may check in many ranks: those of a host with a node leader. With several roots,
// each root collects a share of the ranks. The root delegate of a share (the member that checks in
// its first rank) carries the records to the first root, which does the rest.
#pragma once
#include <map>
#include <set>
#include <variant>

#include "base/wire/acceptor.hpp"
#include "base/wire/machine.hpp"
#include "bootstrap/root_callers.hpp"
#include "bootstrap/root_job.hpp"
#include "bootstrap/states.hpp"

namespace ringlet::bootstrap {

struct RootConfig {
  Credentials credentials;
  Secret nonce_seed{};
  std::string host;  ///< this root's host, for messages
  std::uint32_t pid = 0;
  Instant handshake_timeout =
      std::chrono::seconds(10);  ///< time for a caller to authenticate and check in
  /// A member is lost if it stays silent this long; 0: never. The root sends a beat every quarter.
  Instant silence_max = std::chrono::seconds(60);
  IsStopped is_stopped;       ///< queried about a member that does not answer
  bool refuses_long = false;  ///< refuse for kRefusalMost, regardless of timeouts
  /// Facts about this root for its timeout message, such as that it is unreachable. May be empty.
  std::function<std::string()> hint;
  LineOptions lines = {};  ///< of every connection; equal to the members' options
  /// Maximum number of unauthenticated callers. More wait in the listener's queue
  /// (base/wire/callers).
  std::size_t half_open_max = 32'768;
  /// Maximum number of strangers with a log line of their own. Further ones are counted.
  std::uint32_t strangers_noted_max = 32;
};

/// Longest time that a root stays to refuse late ranks.
inline constexpr Instant kRefusalMost = std::chrono::minutes(10);

/// Time that a finished root waits before it sends kDone.
inline constexpr Instant kCloseAfter = std::chrono::milliseconds(20);

class Root final : public Machine {
 public:
  explicit Root(RootConfig config);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return state() == RootState::kFinished; }
  bool Accepting() const override { return acceptor_.HasRoom(now_); }

  /// Gives up and sends every member the reason. Called by an owner that is about to be destroyed.
  void Abort(const std::string& why);
  /// Fails a job that is incomplete. Members that call receive the reason, for kRefusalMost at
  /// most.
  void Refuse(const Failure& failure, Instant now);

  std::uint64_t magic() const { return config_.credentials.magic; }
  RootState state() const { return static_cast<RootState>(state_.index()); }
  std::uint32_t checked_in() const {
    return job_ ? static_cast<std::uint32_t>(job_->members().size()) : 0;
  }
  /// Number of callers that were turned away or left.
  std::uint32_t strangers() const { return acceptor_.log().turned_away() + acceptor_.log().left(); }

 private:
  // The data of each state, in the order of RootState. `due`: end of the state without an event.
  struct Empty {};
  struct Gathering {
    Instant due;
  };
  struct Connecting {
    Instant due;
    std::uint32_t ready;  // ring: number of members that have reported
  };
  struct Closing {
    Instant due;
  };
  struct Refusing {
    Instant due;
    Failure failure;
    std::set<std::uint32_t> told;  // ranks that have received the failure
  };
  struct Over {};
  using State = std::variant<Empty, Gathering, Connecting, Closing, Refusing, Over>;

  void OnReceived(const Received& event, Instant now);
  void Pump(LineId line);
  void OnBrokenStream(const RootCaller& root_caller, const Error& error);
  void OnClosed(const Closed& event);
  void OnTick(Instant now);
  void OnDue();
  void SendHeartbeats(Instant now);
  bool Accepts(RootLine line, std::uint8_t frame) const;
  void OnFrame(RootCaller& root_caller, const Frame& frame);
  void OnCaller(const Acceptor::FirstFrame& caller);
  void OnCheckIn(LineId line, CheckIn check_in);
  void OnLocalRank(RootCaller& root_caller, const Frame& frame);
  void OnSection(RootCaller& root_caller, const Frame& frame);
  void OnFailure(const RootCaller& root_caller, const Frame& frame);
  void OnReady(RootCaller& root_caller);
  std::optional<std::string> WhyUnfit(const CheckIn& check_in) const;
  RootCaller& AddCaller(LineId line, const CheckIn& check_in, Bytes record);
  void Admit(RootCaller& root_caller, const CheckIn& check_in, Bytes record);
  void ApplyDeadlineOf(const CheckIn& check_in);
  void SendWelcome(RootCaller& root_caller, const CheckIn& check_in);
  void DistributeIfComplete();
  void SendRoster(FrameType type, const Roster& roster);
  void SendNeighbours();
  void Finish();
  void RejectAll(const Failure& failure, std::set<std::uint32_t> told = {});
  void End();
  std::string MissingText() const;

  RootConfig config_;
  NonceSource nonces_;
  Acceptor acceptor_;
  RootCallers root_callers_;
  State state_;
  std::optional<RootJob> job_;  // set by the first check-in
  Instant beat_due_{0};
  Instant now_{0};
  std::optional<std::uint32_t> hosted_rank_;
};

}  // namespace ringlet::bootstrap
