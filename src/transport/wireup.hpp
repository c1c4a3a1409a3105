// How a rank finds its peers, proves who it is and trades one offer with each of them. Without I/O.
//
// Of a pair one dials and one is called. The dialler tries all addresses of the peer at once; the
// first line on which the peer proves that it knows the secret wins and the others are hung up. On
// it both introduce themselves, the dialler first. Then the line is detached: a data link goes on
// over it, a memory link keeps it to learn of the peer's death.
//
//   dialler                                   acceptor
//   Hello               -------------------->
//                       <--------------------  Challenge
//   Proof, Wireup hello -------------------->
//                       <--------------------  Wireup hello, or Refusal and hang-up
//
// Whoever calls without the secret costs one line of the log: its line has a deadline, the number
// of such lines a bound (the oldest makes room), and nothing it says is parsed beyond the
// handshake.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/value/prng.hpp"
#include "transport/wireup_line.hpp"

namespace ringlet::transport {

struct WireupPeer {
  enum class Role : std::uint8_t { kDial, kAccept };
  Rank rank{};
  std::string host;  ///< for errors
  Role role = Role::kDial;
  Purpose purpose = Purpose::kData;
  std::uint8_t strand = 0;         ///< which of several lines between the two
  std::vector<Address> addresses;  ///< kDial: where it may be reached; at least one
  /// kDial: index of the address that is tried alone for a while; empty: all at once.
  std::optional<std::size_t> preferred = {};
  Bytes offer;              ///< at most kOfferBytesMax
  Descriptors descriptors;  ///< at most kDescriptorsPerOfferMax
};

struct WireupLimits {
  Instant handshake_timeout = std::chrono::seconds(10);
  Instant retry_first = std::chrono::milliseconds(5);
  Instant retry_max = std::chrono::seconds(1);
  Instant hesitation = std::chrono::milliseconds(100);  ///< before what is not preferred is tried
  std::size_t callers_max = 1024;  ///< lines that have not introduced themselves yet
};

struct WireupConfig {
  Rank self{};
  Credentials credentials;
  Secret nonce_seed{};            ///< fresh from the system's random source
  std::vector<WireupPeer> peers;  ///< each rank and strand once, never `self`
  Instant deadline{};
  WireupLimits limits = {};
};

/// A peer that was met.
struct Met {
  Rank peer{};
  LineId line{};  ///< detached
  Bytes offer;    ///< the peer's; authenticated but not checked
  Descriptors descriptors;
  Bytes unread;  ///< what the peer already sent for the link
};

class Wireup final : public Machine {
 public:
  explicit Wireup(WireupConfig config);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return outcome_.has_value(); }

  /// Set when finished. One entry a peer, in the order of the configuration.
  /// Errors  kTimeout   names every missing peer, the addresses tried and what became of each
  ///         kPeerLost  a peer that had been met hung up before its line was handed over
  const std::optional<Result<std::vector<Met>>>& outcome() const { return outcome_; }

  /// The place in the configuration of the peer that was met on this line, and what it said; also
  /// before the others have come. Null after the line broke, or the peer was met on another.
  std::optional<std::pair<std::size_t, Met>> MetOn(LineId line) const;

 private:
  struct Candidate {  // an address to dial
    std::size_t peer;
    Address address;
    LineId line = 0;  // 0: not dialled now
    Instant retry{};  // how long to wait after the next failure
    Instant due{};    // when `line` is 0: when to dial; zero: not before something changes
    std::string last = "no answer";
  };
  struct Peer {
    WireupPeer config;
    std::vector<std::size_t> candidates;
    LineId chosen = 0;  // dialler: where the proof was given
    std::optional<Met> met;
  };
  struct Line {
    WireupLine wire;
    std::optional<std::size_t> candidate;  // dialled; otherwise accepted
    Address from;
    Instant deadline{};  // zero: none
  };
  using Lines = std::map<LineId, Line>;

  void OnConnected(LineId id);
  void OnAccepted(const Accepted& accepted, Instant now);
  void OnReceived(const Received& received, Instant now);
  void OnClosed(const Closed& closed, Instant now);
  void OnOpen(Lines::iterator line, Instant now);
  void OnHeard(Lines::iterator line, Heard heard, Instant now);
  void OnCaller(Lines::iterator line, WireupHello hello);
  void OnAnswer(Lines::iterator line, WireupHello hello, Instant now);
  void MarkMet(Lines::iterator line, Peer& peer, WireupHello hello);
  void Unmeet(LineId id, Instant now);
  void Fail(Lines::iterator line, const std::string& why, Instant now, bool hangup);
  void Refuse(Lines::iterator line, const std::string& why);
  void TurnAway(const Address& from, const std::string& why);
  void Introduce(LineId id, const Peer& peer, Bytes before);
  void Schedule(std::size_t candidate, Instant due);
  void StopDialling(Peer& peer, LineId except);
  void DialDue(Instant now);
  void Expire(Instant now);
  void SetDeadline(Lines::iterator line, Instant deadline);
  void Forget(Lines::iterator line);
  void Conclude(Instant now);
  void Finish(Result<std::vector<Met>> outcome);
  Error Missing() const;
  std::string Complaint(const Peer& peer) const;

  WireupConfig config_;
  NonceSource nonces_;
  Prng jitter_;
  std::vector<Peer> peers_;
  std::vector<Candidate> candidates_;
  Lines lines_;
  std::map<std::pair<Rank, std::uint8_t>, std::size_t> peer_of_strand_;
  std::map<LineId, std::size_t> peer_of_met_line_;
  std::set<std::pair<Instant, std::size_t>> dials_due_;
  std::set<std::pair<Instant, LineId>> lines_due_;
  std::size_t met_count_ = 0;
  std::size_t accepted_count_ = 0;
  std::size_t turned_away_count_ = 0;
  std::size_t gave_up_count_ = 0;
  std::string turned_away_last_;
  LineId next_line_ = 1;
  bool started_ = false;
  std::optional<Result<std::vector<Met>>> outcome_;
};

}  // namespace ringlet::transport
