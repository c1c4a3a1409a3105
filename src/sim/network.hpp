// A network in virtual time: runs the machines of production, any number of them, on one thread and
// from one seed. The same seed gives the same run, event for event; trace() is its fingerprint.
#pragma once
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/machine.hpp"
#include "base/prng.hpp"

namespace ringlet::sim {

struct Conditions {
  Instant latency_min{std::chrono::microseconds(1)};
  Instant latency_max{std::chrono::milliseconds(1)};  ///< each delivery draws between the two
  double refuse = 0;              ///< chance that one dial is refused although somebody listens
  std::size_t chunk_max = 65536;  ///< streams are cut into pieces of 1 to this many bytes
};

using NodeId = std::uint32_t;

class Network {
 public:
  /// Not zero: zero means "not yet" to some.
  static constexpr Instant kOrigin = std::chrono::seconds(1);

  Network(std::uint64_t seed, Conditions conditions) : prng_(seed), conditions_(conditions) {}

  /// \param address  where the node listens; kNone if it does not
  /// \param start    after kOrigin; before it, dials to the node are refused
  NodeId Add(std::unique_ptr<Machine> machine, const Address& address, Instant start);

  /// The node listens at one more address.
  void Listen(NodeId node, const Address& address) { listeners_[address] = node; }

  /// The node's process dies: its lines close, later dials are refused.
  void Kill(NodeId node, Instant when);
  /// The node's cable is pulled: nothing reaches it and nothing leaves it, nobody is told.
  void Silence(NodeId node, Instant when);
  /// Gives the node a turn (a Tick) at `when`.
  void Nudge(NodeId node, Instant when);

  bool alive(NodeId node) const { return !nodes_[node].dead; }
  bool reachable(NodeId node) const { return !nodes_[node].dead && !nodes_[node].silent; }
  Machine& machine(NodeId node) { return *nodes_[node].machine; }
  Instant now() const { return now_; }
  std::uint64_t trace() const { return trace_; }
  std::uint64_t events() const { return events_; }
  const std::vector<std::string>& notes() const { return notes_; }

  /// Runs until nothing happens any more before `until`.
  /// \return false when `events_max` did not suffice: some machine keeps itself busy for ever.
  bool Run(Instant until, std::uint64_t events_max = 5'000'000);

 private:
  struct End {  // one end of a line
    NodeId node;
    LineId line;
    auto operator<=>(const End&) const = default;
  };
  struct EndState {
    End other;
    Instant last_arrival{0};  // towards this end: lines keep their order
  };
  struct Node {
    std::unique_ptr<Machine> machine;
    bool started = false, dead = false, silent = false;
    LineId next_accepted = kFirstAcceptedLine;
    Instant tick_at{0};  // of the earliest Tick in the queue; 0: none
    std::map<LineId, EndState> ends;
  };
  enum class What : std::uint8_t { kStart, kKill, kSilence, kTick, kEvent };
  struct Item {
    Instant when;
    std::uint64_t sequence;
    NodeId node;
    What what;
    Event event;
    SharedBytes keep;  // owns the bytes of a Received
  };
  struct Later {
    bool operator()(const Item& a, const Item& b) const {
      return std::tie(a.when, a.sequence) > std::tie(b.when, b.sequence);
    }
  };

  void Push(Instant when, NodeId node, What what, Event event = Tick{}, SharedBytes keep = nullptr);
  void PushOnLine(const End& to, Event event, SharedBytes keep = nullptr);
  Instant Delay();
  void Note_(std::uint64_t value) { trace_ = (trace_ ^ value) * 0x100000001b3u; }
  void Carry(const Item& item);
  void Deliver(NodeId node, const Event& event);
  void Apply(NodeId node, Action& action);
  void DoDial(NodeId node, const Dial& dial);
  void DoSend(NodeId node, const Send& send);
  void DoHangup(NodeId node, LineId line);
  void Die(NodeId node);

  Prng prng_;
  Conditions conditions_;
  Instant now_ = kOrigin;
  std::uint64_t sequence_ = 0, events_ = 0, trace_ = 0xcbf29ce484222325u;
  std::vector<Node> nodes_;
  std::map<Address, NodeId> listeners_;
  std::priority_queue<Item, std::vector<Item>, Later> queue_;
  std::vector<std::string> notes_;
};

}  // namespace ringlet::sim
