// The root: collects one check-in from every rank, then lets the members connect to each other.
//
// Its states, and which frames it takes in which: bootstrap/states. When something goes wrong it is
// told to every member that has checked in, on the line it already holds; the root then stays for a
// while as refusing, so that those who come late hear the reason too.
//
// One line may check in many ranks: those of a host whose node leader holds it. Of several roots
// each collects a share of the ranks, and the root delegate of a share (the member that checked in
// its first rank) carries what was collected to the first root, which does the rest.
#pragma once
#include <map>
#include <set>
#include <variant>

#include "base/wire/acceptor.hpp"
#include "base/wire/machine.hpp"
#include "bootstrap/root_guests.hpp"
#include "bootstrap/root_job.hpp"
#include "bootstrap/states.hpp"

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
  IsStopped is_stopped;       ///< asked of a member that does not answer
  bool refuses_long = false;  ///< for kRefusalMost, even if the members' time limits are shorter
  /// Facts about this root for its time-out, such as that it cannot be reached; may be empty.
  std::function<std::string()> hint;
  LineOptions lines = {};  ///< of every connection; the same as the members'
  /// Callers that have proven nothing yet; the others wait in the listener's queue
  /// (base/wire/callers).
  std::size_t half_open_max = 32'768;
  /// Strangers that get a log line of their own; the rest are counted.
  std::uint32_t strangers_noted_max = 32;
};

/// How long a root that has refused a job stays to tell latecomers, at most.
inline constexpr Instant kRefusalMost = std::chrono::minutes(10);

/// How long a root whose work is done leaves the members to themselves before it says so.
inline constexpr Instant kCloseAfter = std::chrono::milliseconds(20);

class Root final : public Machine {
 public:
  explicit Root(RootConfig config);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return state() == RootState::kFinished; }
  bool Accepting() const override { return acceptor_.HasRoom(now_); }

  /// Gives up, telling every member why. For an owner that goes away.
  void Abort(const std::string& why);
  /// The job will not come together, unless it has: members that call are told why, for
  /// kRefusalMost at most.
  void Refuse(const Failure& failure, Instant now);

  std::uint64_t magic() const { return config_.credentials.magic; }
  RootState state() const { return static_cast<RootState>(state_.index()); }
  std::uint32_t checked_in() const {
    return job_ ? static_cast<std::uint32_t>(job_->members().size()) : 0;
  }
  /// Callers that were turned away or left.
  std::uint32_t strangers() const { return acceptor_.log().turned_away() + acceptor_.log().left(); }

 private:
  // The data of each state; in the order of RootState. `due`: when it ends if nothing happens.
  struct Empty {};
  struct Gathering {
    Instant due;
  };
  struct Connecting {
    Instant due;
    std::uint32_t ready;  // ring: members that have reported
  };
  struct Closing {
    Instant due;
  };
  struct Refusing {
    Instant due;
    Failure failure;
    std::set<std::uint32_t> told;  // ranks that know
  };
  struct Over {};
  using State = std::variant<Empty, Gathering, Connecting, Closing, Refusing, Over>;

  void OnReceived(const Received& event, Instant now);
  void Pump(LineId line);
  void OnBrokenStream(const RootGuest& guest, const Error& error);
  void OnClosed(const Closed& event);
  void OnTick(Instant now);
  void OnDue();
  void Beat(Instant now);
  bool Accepts(RootLine line, std::uint8_t frame) const;
  void OnFrame(RootGuest& guest, const Frame& frame);
  void OnCaller(const Acceptor::FirstFrame& caller);
  void OnCheckIn(LineId line, CheckIn check_in);
  void OnLocalRank(RootGuest& guest, const Frame& frame);
  void OnSection(RootGuest& guest, const Frame& frame);
  void OnFailure(const RootGuest& guest, const Frame& frame);
  void OnReady(RootGuest& guest);
  std::optional<std::string> WhyUnfit(const CheckIn& check_in) const;
  RootGuest& Introduce(LineId line, const CheckIn& check_in, Bytes record);
  void Admit(RootGuest& guest, const CheckIn& check_in, Bytes record);
  void HeedDeadlineOf(const CheckIn& check_in);
  void SayWelcome(RootGuest& guest, const CheckIn& check_in);
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
  RootGuests guests_;
  State state_;
  std::optional<RootJob> job_;  // from the first check-in on
  Instant beat_due_{0};
  Instant now_{0};
  std::optional<std::uint32_t> hosted_rank_;
};

}  // namespace ringlet::bootstrap
