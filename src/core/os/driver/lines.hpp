// The connections of a driver, open or connecting, from the first call to the last byte. They carry
// out the actions of machines and deliver the events.
//
// Bounds: at most kUnsentBytesMax wait to be sent on one connection. At most kPartingMax
// connections that their machines have hung up wait for the peer to close too, kLastWords each.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "os/driver/driver_counters.hpp"
#include "os/driver/hosted_machines.hpp"
#include "os/driver/line_io.hpp"
#include "os/driver/poller.hpp"

namespace ringlet::os {

class Lines {
 public:
  static constexpr std::size_t kUnsentBytesMax = std::size_t{1} << 30;

  Lines(Poller& poller, HostedMachines& machines, DriverTally& tally);

  /// Each carries out an action of a machine. The next Flush sends the output.
  void Perform(MachineId id, const Dial& dial);
  void Perform(MachineId id, Send send);
  void Perform(MachineId id, const Hangup& hangup);
  void Perform(MachineId id, const Detach& detach);
  /// Admits a caller and reads its first bytes. Returns true if they begin with the greeting.
  bool Admit(MachineId id, Caller caller, bool is_unix);
  /// Ends all connections of a removed machine. Those with unsent data stay for up to `linger`.
  void Abandon(MachineId id, Instant linger);

  /// Handles the events that epoll reports for the connection. Does nothing if it is closed.
  void OnReady(Token token, std::uint32_t events);
  /// Sends the output of machines since the last call, gathered.
  void Flush();
  bool HasUnflushed() const { return !dirty_.empty(); }
  /// Closes the connections that have lingered for their time.
  void EndLingering(Instant now);
  std::optional<Instant> NextDue() const;

 private:
  struct Connection {
    Fd fd;
    MachineId owner = 0;
    LineId id = 0;
    bool is_unix = false;
    bool connecting = false;
    bool dying = false;      // hang up when `unsent` is empty
    bool detaching = false;  // hand over when `unsent` is empty
    bool parting = false;    // dying, and closed for writing; hang up when the peer has closed too
    UnsentQueue unsent;
    std::uint32_t watched = 0;
    bool in_epoll = false;
    std::optional<Instant> lingers_until;
  };
  struct OfMachine {
    std::unordered_map<LineId, Token> lines;  // those that it has not hung up
    LineId next_accepted = kFirstAcceptedLine;
  };

  Token Add(MachineId id, LineId line_id, Fd fd, bool is_unix);
  Connection* Find(Token token);
  Token TokenOf(MachineId id, LineId line) const;
  void RemoveFromOwner(const Connection& line, Token token);
  void Watch(Token token, Connection& line);
  void OnConnecting(Token token, Connection& line);
  bool Read(Token token);
  bool ReadOnce(Token token, Connection& line, bool& greeted);
  void FlushLine(Token token);
  void Part(Token token);
  void Discard(Token token);
  void Linger(Token token, Connection& line, Instant timeout);
  void HandOver(Token token);
  void DropLine(Token token, std::string why);
  void Drop(Token token);

  Poller& poller_;
  HostedMachines& machines_;
  DriverTally& tally_;
  // Not cleared, because most of its pages are never touched.
  const std::unique_ptr<std::byte[]> buffer_;
  std::unordered_map<Token, Connection> lines_;
  std::unordered_map<MachineId, OfMachine> of_machines_;
  std::set<std::pair<Instant, Token>> lingering_;
  std::size_t parting_ = 0;
  std::vector<Token> dirty_;  // connections with output since the last Flush
};

}  // namespace ringlet::os
