// Wireup: a rank finds its peers, proves its identity and trades one offer with each. No I/O.
//
// One rank of each pair dials and the other accepts, both as in the bootstrap (base/wire/dialler,
// acceptor). The first line on which the peer proves that it knows the secret wins. On that line
// both ranks send their identity and their offer, the dialler first. The wireup then detaches the
// line. A data link continues over it, and a memory link keeps it to detect the peer's death.
//
//   dialler                                   acceptor
//   Hello               -------------------->
//                       <--------------------  Challenge
//   Proof, Wireup hello -------------------->
//                       <--------------------  Wireup hello, or Refusal and hang-up
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/wire/acceptor.hpp"
#include "base/wire/dialler.hpp"
#include "transport/wireup/wireup_hello.hpp"

namespace ringlet::transport {

struct WireupPeer {
  enum class Role : std::uint8_t { kDial, kAccept };
  Rank rank{};
  std::string host;  ///< for errors
  Role role = Role::kDial;
  Purpose purpose = Purpose::kData;
  std::uint8_t strand = 0;         ///< index among the lines between the two ranks
  std::vector<Address> addresses;  ///< kDial: addresses of the peer; at least one
  bool best_first = false;         ///< kDial: dial one after the other instead of all at once
  Bytes offer;                     ///< at most kOfferBytesMax
  Descriptors descriptors;         ///< at most kDescriptorsPerOfferMax
};

struct WireupLimits {
  Instant handshake_timeout = std::chrono::seconds(10);
  DialTiming dialling = {.retry_first = std::chrono::milliseconds(5),
                         .retry_most = std::chrono::seconds(1)};
  std::size_t callers_max = 1024;  ///< lines without a hello so far
};

struct WireupConfig {
  Rank self{};
  Credentials credentials;
  Secret nonce_seed{};            ///< fresh from the system's random source
  std::vector<WireupPeer> peers;  ///< each rank and strand once, never `self`
  Instant deadline{};
  WireupLimits limits = {};
};

/// A peer that has been met.
struct ConnectedPeer {
  Rank peer{};
  LineId line{};  ///< detached
  Bytes offer;    ///< of the peer; authenticated but not checked
  Descriptors descriptors;
  Bytes unread;  ///< bytes for the link that the peer has already sent
};

class Wireup final : public Machine {
 public:
  explicit Wireup(WireupConfig config);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return outcome_.has_value(); }
  bool Accepting() const override { return acceptor_.HasRoom(now_); }

  /// Set when finished. One entry per peer, in the order of the configuration.
  /// Errors  kTimeout   names every missing peer, the addresses tried and the result of each
  ///         kPeerLost  a peer hung up after it was met and before its line was handed over
  const std::optional<Result<std::vector<ConnectedPeer>>>& outcome() const { return outcome_; }

  /// Returns the configuration index and the data of the peer met on this line, even before all
  /// have been met. Empty if the line broke, or if the peer was met on another line.
  std::optional<std::pair<std::size_t, ConnectedPeer>> ConnectedPeerOn(LineId line) const;

 private:
  struct ProvenLine {  // the peer has proved itself on this line but not sent its hello
    Dialler::Opened made;
    Instant expires;
  };
  struct Peer {
    WireupPeer config;
    std::optional<Dialler> dialler;  // set for kDial
    std::optional<ProvenLine> opened;
    Address reached{};  // the address at which it was met
    std::optional<ConnectedPeer> met;
    Instant due{};  // next time that this peer needs attention; zero if never
  };

  void Begin(Instant now);
  void AddPeer(WireupPeer peer);
  void EmitOf(std::size_t peer, Action action);
  void OnReceived(const Received& received, Instant now);
  void OnClosed(const Closed& closed, Instant now);
  void OnOpen(std::size_t peer, Dialler::Opened made, Instant now);
  void ListenTo(std::size_t peer, Instant now);
  void OnCaller(const Acceptor::FirstFrame& caller);
  std::string WhyUnexpected(const WireupHello& hello, Purpose purpose) const;
  void MarkConnected(std::size_t peer, LineId line, Wire& wire, WireupHello hello);
  void MarkDisconnected(LineId line, Instant now);
  void DropLineAndRedial(std::size_t peer, const std::string& why, Instant now, bool hangup);
  void Introduce(LineId line, const Peer& peer);
  void Await(std::size_t peer);
  void Advance(Instant now);
  void Conclude(Instant now);
  void Finish(Result<std::vector<ConnectedPeer>> outcome);
  Error Missing() const;
  std::string FailureText(const Peer& peer) const;

  WireupConfig config_;
  NonceSource nonces_;
  LineId next_line_ = 1;
  Acceptor acceptor_;
  std::deque<Peer> peers_;
  std::map<std::pair<Rank, std::uint8_t>, std::size_t> peer_of_strand_;
  std::map<LineId, std::size_t> peer_of_line_;  // lines that are being dialled, open or met
  std::set<std::pair<Instant, std::size_t>> due_;
  std::size_t met_count_ = 0;
  Instant now_{0};
  bool started_ = false;
  std::optional<Result<std::vector<ConnectedPeer>>> outcome_;
};

}  // namespace ringlet::transport
