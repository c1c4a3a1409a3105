// A network in virtual time: runs the machines of production, any number of them, on one thread and
// from one seed. The same seed gives the same run, event for event; trace() is its fingerprint.
// docs/contributing/simulation.md says what is modelled and what is not.
#pragma once
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/value/prng.hpp"
#include "base/wire/machine.hpp"
#include "sim/event_queue.hpp"
#include "sim/fabric.hpp"
#include "sim/line_book.hpp"

namespace ringlet::sim {

struct Conditions {
  static constexpr std::size_t kUncut = std::numeric_limits<std::size_t>::max();

  Instant latency_min{std::chrono::microseconds(1)};
  Instant latency_max{std::chrono::milliseconds(1)};  ///< each delivery draws between the two
  double refuse = 0;              ///< chance that one dial is refused although a machine listens
  std::size_t chunk_max = 65536;  ///< streams are cut into pieces of 1 to this many bytes; kUncut:
                                  ///< each Send arrives whole, as a slice of the same owner
  double corrupt = 0;             ///< chance that one byte of a Send arrives changed
  // Of nodes that have a host:
  Instant local_latency{std::chrono::microseconds(5)};  ///< between two of the same host
  std::uint64_t mb_per_s = 0;  ///< of each host's network card, each direction; 0: unlimited
  Instant cpu_per_event{0};    ///< events of one node wait their turn
  Instant cpu_per_kib{0};      ///< on top, for what it receives
};

/// The bytes that one node has sent and received. A message is one Send, or one piece of it that
/// arrives.
struct Traffic {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint32_t messages_sent = 0, messages_received = 0;
  std::uint32_t dialled = 0, accepted = 0;  ///< connections that came about
};

class Network {
 public:
  /// Not zero: zero means "not yet" to some.
  static constexpr Instant kOrigin = std::chrono::seconds(1);

  Network(std::uint64_t seed, Conditions conditions)
      : prng_(seed), conditions_(conditions), fabric_(conditions.mb_per_s) {}

  /// \param address  where the node listens; kNone if it does not
  /// \param start    after kOrigin; before it, dials to the node are refused
  /// \param host     where it runs; hosts are numbered from 0. A node without one reaches and is
  ///                 reached in one latency, by no card, and its dials come through in one as well.
  NodeId Add(std::unique_ptr<Machine> machine, const Address& address, Instant start,
             HostId host = kNoHost);
  /// One more address for the node; an earlier listener there listens no more. A UNIX name is a
  /// name on the node's host: the same name on two hosts is two listeners.
  void Listen(NodeId node, const Address& address);
  /// An address on `host` that no other node has.
  static Address AddressOn(HostId host, std::uint16_t port);

  // ---- Faults. Times are after kOrigin, and never before what has been run already.
  /// The node's process dies: its lines close, later dials are refused.
  void Kill(NodeId node, Instant when);
  /// The node's cable is pulled: nothing reaches it and nothing leaves it, no peer is told.
  void Silence(NodeId node, Instant when);
  /// All processes of the host die.
  void KillHost(HostId host, Instant when);
  /// The host's cable is pulled. Its nodes still hear each other.
  void SilenceHost(HostId host, Instant when);
  /// The process stops (SIGSTOP) and goes on at `until`: till then its kernel accepts and keeps
  /// what comes.
  void Stop(NodeId node, Instant from, Instant until);
  /// A processor of its own speed, from now on.
  void Slow(NodeId node, Instant cpu_per_event);
  /// Nothing gets from one host to the other; see Fabric::Cut. Both ways are two cuts.
  void Cut(HostId from, HostId to, Instant begin, Instant end = kForEver);

  /// Gives the node a turn (a Tick) at `when`.
  void Nudge(NodeId node, Instant when);

  bool alive(NodeId node) const { return !nodes_[node].dead; }
  bool reachable(NodeId node) const { return !nodes_[node].dead && !nodes_[node].silent; }
  Machine& machine(NodeId node) { return *nodes_[node].machine; }
  HostId host(NodeId node) const { return nodes_[node].host; }
  std::size_t nodes() const { return nodes_.size(); }
  std::size_t hosts() const { return fabric_.hosts(); }
  Instant now() const { return now_; }
  std::uint64_t trace() const { return trace_; }
  std::uint64_t events() const { return events_; }
  const std::vector<std::string>& notes() const { return notes_; }

  const Traffic& traffic(NodeId node) const { return nodes_[node].traffic; }
  const HostTraffic& host_traffic(HostId host) const { return fabric_.traffic(host); }
  /// The longest chain of messages, each sent while the one before was handled, that ends at this
  /// node so far. Setting up a connection counts as the two or three messages that it takes.
  /// Messages that are sent because time has passed follow on all that the node had handled.
  std::uint32_t depth(NodeId node) const { return nodes_[node].depth; }

  /// `observer` is called after every event that a machine has handled; it may call Halt.
  void Observe(std::function<void(NodeId)> observer) { observer_ = std::move(observer); }
  /// Ends the Run that is under way, after this event. Another Run goes on from there.
  void Halt() { halted_ = true; }

  /// Runs until nothing happens any more before `until`, or an observer says Halt.
  /// \return false when `events_max` did not suffice: some machine keeps itself busy for ever.
  bool Run(Instant until, std::uint64_t events_max = 5'000'000);

 private:
  struct MachineNode {
    std::unique_ptr<Machine> machine;
    Instant tick_at{0};     // of the earliest Tick in the queue; 0: none
    Instant busy_until{0};  // its processor
    Traffic traffic;
    EndId ends = LineBook::kFirst;
    HostId host = kNoHost;
    LineId next_accepted = kFirstAcceptedLine;
    std::uint32_t depth = 0;
    std::uint32_t queued = 0;  // events that wait for its processor
    bool started = false, dead = false, silent = false, stopped = false, slow = false;
    bool crowded = false;  // some wait in its queue
  };
  /// Those who wait until a node accepts them, and what has come of each meanwhile.
  struct Queue {
    std::deque<EndId> callers;
    std::unordered_map<EndId, std::vector<Due>> waiting;
  };
  struct Parcel {  // messages on their way to an end
    SharedBytes owner = {};
    View bytes = {};
    EndId end = kNone;
    LineId line = 0;
    std::uint32_t depth = 0;
    std::uint32_t detail = 0;  // kAccepted: who dialled; kClosed: why; free: the next free one
  };
  enum Why : std::uint32_t { kRefused, kHungUp };

  void Push(Instant when, std::uint32_t target, EventKind what);
  std::uint32_t Keep(Parcel parcel);
  Parcel Take(std::uint32_t index);
  void Discard(const Due& due);
  Instant Delay();
  void Note_(std::uint64_t value) { trace_ = (trace_ ^ value) * 0x100000001b3u; }

  void Carry(const Due& due);
  void EnterHost(Due due);
  void Enter(Due due);
  Instant CostOf(const Due& due) const;
  void Handle(const Due& due);
  bool MustWait(const Due& due);
  void HandleOfLine(const Due& due);
  void Welcome(NodeId node);
  Event EventOf(EventKind what, Parcel& parcel, const MachineNode& node);
  void Deliver(NodeId node, const Event& event);
  void Apply(NodeId node, Action& action);

  std::optional<NodeId> ListenerAt(const Address& address, HostId dialled_from) const;
  bool Lost(NodeId from, NodeId to) const;
  void DoDial(NodeId node, const Dial& dial);
  void Establish(EndId from, EndId to, bool is_unix);
  void PushTo(EndId end, Instant when, EventKind what, Parcel parcel, bool at_nic = false);
  void PushOnLine(NodeId from, EndId end, EventKind what, Parcel parcel);
  void DoSend(NodeId node, const Send& send);
  Slice Corrupted(const Slice& data);
  void DoHangup(NodeId node, LineId line);
  void Die(NodeId node);
  void Continue(NodeId node);

  Prng prng_;
  Conditions conditions_;
  Fabric fabric_;
  Instant now_ = kOrigin;
  std::uint64_t events_ = 0, trace_ = 0xcbf29ce484222325u;
  bool halted_ = false;
  std::uint32_t cause_ = 0;  // the depth of the event that is being handled
  std::vector<MachineNode> nodes_;
  LineBook lines_;
  std::vector<Parcel> parcels_;
  std::uint32_t free_parcel_ = kNone;
  EventQueue queue_;
  IdTable ipv4_listeners_;
  std::map<Address, NodeId> listeners_;                // of other kinds
  std::map<NodeId, std::vector<Due>> held_;            // of those that are stopped
  std::unordered_map<NodeId, Instant> cpu_per_event_;  // of those that are slow
  std::unordered_map<NodeId, Queue> queues_;           // of those that are crowded
  std::vector<std::string> notes_;
  std::function<void(NodeId)> observer_;
};

}  // namespace ringlet::sim
