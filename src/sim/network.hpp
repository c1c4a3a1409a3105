// A network in virtual time. It runs any number of production machines on one thread and from one
// seed. Equal seeds give equal runs, event for event; trace() is the fingerprint of a run.
// docs/contributing/simulation.md describes the model and its limits.
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
  Instant latency_max{std::chrono::milliseconds(1)};  ///< each delivery draws from the range
  double refuse = 0;              ///< chance that a dial is refused although a machine listens
  std::size_t chunk_max = 65536;  ///< streams are cut into pieces of 1 to this many bytes; kUncut:
                                  ///< each Send arrives whole, as a slice of the same owner
  double corrupt = 0;             ///< chance that one byte of a Send is corrupted
  // These apply to nodes with a host.
  Instant local_latency{std::chrono::microseconds(5)};  ///< between two nodes of the same host
  std::uint64_t mb_per_s = 0;  ///< of each host's network card, per direction; 0: unlimited
  Instant cpu_per_event{0};    ///< events of one node wait their turn
  Instant cpu_per_kib{0};      ///< in addition, per received KiB
};

/// Bytes sent and received by one node. A message is one Send, or one arriving piece of it.
struct Traffic {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint32_t messages_sent = 0, messages_received = 0;
  std::uint32_t dialled = 0, accepted = 0;  ///< established connections
};

class Network {
 public:
  /// Not zero: to some machines zero means "not yet".
  static constexpr Instant kOrigin = std::chrono::seconds(1);

  Network(std::uint64_t seed, Conditions conditions)
      : prng_(seed), conditions_(conditions), fabric_(conditions.mb_per_s) {}

  /// \param address  the node's listening address; kNone if it does not listen
  /// \param start    after kOrigin; before it, dials to the node are refused
  /// \param host     the node's host, counted from 0. A node without a host sends and receives with
  ///                 one latency and without a card, and its dials take one latency as well.
  NodeId Add(std::unique_ptr<Machine> machine, const Address& address, Instant start,
             HostId host = kNoHost);
  /// Adds an address to the node, and removes an earlier listener from it. A UNIX name belongs to
  /// the node's host: the same name on two hosts is two listeners.
  void Listen(NodeId node, const Address& address);
  /// Returns an unused address on `host`.
  static Address AddressOn(HostId host, std::uint16_t port);

  // ---- Faults. Times are after kOrigin, and not before the end of the last Run.
  /// Kills the node's process: its lines close, and later dials are refused.
  void Kill(NodeId node, Instant when);
  /// Pulls the node's cable: it neither receives nor sends, and its peers are not notified.
  void Isolate(NodeId node, Instant when);
  /// Kills all processes of the host.
  void KillHost(HostId host, Instant when);
  /// Pulls the host's cable. Its nodes still reach each other.
  void IsolateHost(HostId host, Instant when);
  /// Stops the process (SIGSTOP) and continues it at `until`. In between its kernel accepts
  /// connections and keeps their data.
  void Stop(NodeId node, Instant from, Instant until);
  /// Sets the speed of the node's processor from now on.
  void Slow(NodeId node, Instant cpu_per_event);
  /// Blocks traffic from one host to the other; see HostNetwork::Cut. Both directions need two
  /// cuts.
  void Cut(HostId from, HostId to, Instant begin, Instant end = kForEver);

  /// Gives the node a turn (a Tick) at `when`.
  void RequestTick(NodeId node, Instant when);

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
  /// Length of the longest chain of messages that ends at this node so far. Each message of a chain
  /// was sent while its predecessor was handled. A connection counts as the two or three messages
  /// of its setup. A message sent because of a timer follows all earlier messages of the node.
  std::uint32_t depth(NodeId node) const { return nodes_[node].depth; }

  /// Calls `observer` after every event handled by a machine. The observer may call Halt.
  void Observe(std::function<void(NodeId)> observer) { observer_ = std::move(observer); }
  /// Ends the current Run after this event. Another Run continues from there.
  void Halt() { halted_ = true; }

  /// Runs until no event before `until` is left, or an observer calls Halt.
  /// \return false if `events_max` did not suffice, because some machine keeps itself busy for
  ///         ever.
  bool Run(Instant until, std::uint64_t events_max = 5'000'000);

 private:
  struct MachineNode {
    std::unique_ptr<Machine> machine;
    Instant tick_at{0};     // earliest Tick in the queue; 0: none
    Instant busy_until{0};  // of its processor
    Traffic traffic;
    EndId ends = LineBook::kFirst;
    HostId host = kNoHost;
    LineId next_accepted = kFirstAcceptedLine;
    std::uint32_t depth = 0;
    std::uint32_t queued = 0;  // events waiting for its processor
    bool started = false, dead = false, silent = false, stopped = false, slow = false;
    bool crowded = false;  // callers wait in its queue
  };
  /// Callers that a node has not accepted yet, and the events of each meanwhile.
  struct Queue {
    std::deque<EndId> callers;
    std::unordered_map<EndId, std::vector<ScheduledEvent>> waiting;
  };
  struct PendingMessages {  // messages in transit to an end
    SharedBytes owner = {};
    View bytes = {};
    EndId end = kNone;
    LineId line = 0;
    std::uint32_t depth = 0;
    std::uint32_t detail = 0;  // kAccepted: dialling node; kClosed: reason; free: next free
  };
  enum Why : std::uint32_t { kRefused, kHungUp };

  void Push(Instant when, std::uint32_t target, EventKind what);
  std::uint32_t Keep(PendingMessages parcel);
  PendingMessages Take(std::uint32_t index);
  void Discard(const ScheduledEvent& due);
  Instant Delay();
  void Note_(std::uint64_t value) { trace_ = (trace_ ^ value) * 0x100000001b3u; }

  void Carry(const ScheduledEvent& due);
  void EnterHost(ScheduledEvent due);
  void Enter(ScheduledEvent due);
  Instant CostOf(const ScheduledEvent& due) const;
  void Handle(const ScheduledEvent& due);
  bool MustWait(const ScheduledEvent& due);
  void HandleOfLine(const ScheduledEvent& due);
  void Welcome(NodeId node);
  Event EventOf(EventKind what, PendingMessages& parcel, const MachineNode& node);
  void Deliver(NodeId node, const Event& event);
  void Apply(NodeId node, Action& action);

  std::optional<NodeId> ListenerAt(const Address& address, HostId dialled_from) const;
  bool IsUnreachable(NodeId from, NodeId to) const;
  void DoDial(NodeId node, const Dial& dial);
  void Establish(EndId from, EndId to, bool is_unix);
  void PushTo(EndId end, Instant when, EventKind what, PendingMessages parcel, bool at_nic = false);
  void PushOnLine(NodeId from, EndId end, EventKind what, PendingMessages parcel);
  void DoSend(NodeId node, const Send& send);
  Slice Corrupted(const Slice& data);
  void DoHangup(NodeId node, LineId line);
  void RemoveNode(NodeId node);
  void Continue(NodeId node);

  Prng prng_;
  Conditions conditions_;
  HostNetwork fabric_;
  Instant now_ = kOrigin;
  std::uint64_t events_ = 0, trace_ = 0xcbf29ce484222325u;
  bool halted_ = false;
  std::uint32_t cause_ = 0;  // depth of the current event
  std::vector<MachineNode> nodes_;
  LineBook lines_;
  std::vector<PendingMessages> parcels_;
  std::uint32_t free_parcel_ = kNone;
  EventQueue queue_;
  IdTable ipv4_listeners_;
  std::map<Address, NodeId> listeners_;                 // addresses of other kinds
  std::map<NodeId, std::vector<ScheduledEvent>> held_;  // events of stopped nodes
  std::unordered_map<NodeId, Instant> cpu_per_event_;   // of slow nodes
  std::unordered_map<NodeId, Queue> queues_;            // of crowded nodes
  std::vector<std::string> notes_;
  std::function<void(NodeId)> observer_;
};

}  // namespace ringlet::sim
