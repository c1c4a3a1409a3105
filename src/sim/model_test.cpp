// Tests the model of machines: hosts with network cards and processors, and their faults. Latency
// is fixed, so every time is predictable.
#include <gmock/gmock.h>

#include "sim/network.hpp"

namespace ringlet::sim {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Instant kLatency = microseconds(20);
constexpr Instant kLocal = microseconds(5);
constexpr Instant kLong = std::chrono::seconds(100);

/// Records its events, and acts by the test's script.
class Probe final : public Machine {
 public:
  using Script = std::function<void(Probe&, const Event&)>;
  explicit Probe(Script script = {}) : script_(std::move(script)) {}
  void Handle(const Event& event, Instant now) override {
    now_ = now - Network::kOrigin;
    std::visit(Overloaded{[&](const Connected&) { Log("connected"); },
                          [&](const Accepted& e) {
                            from = e.from;
                            Log("accepted");
                          },
                          [&](const Received& e) {
                            Log(std::to_string(e.data.bytes.size()) + " bytes");
                            data = e.data;
                          },
                          [&](const Closed& e) { Log(e.why); }, [](const Tick&) {}},
               event);
    if (script_) script_(*this, event);
  }
  std::optional<Instant> Deadline() const override { return deadline; }
  bool Finished() const override { return false; }
  bool Accepting() const override { return accepting; }
  using Machine::Emit;

  std::vector<std::string> log;  // "25 us: connected"
  Slice data;                    // received last
  Address from;                  // accepted last
  std::optional<Instant> deadline;
  bool accepting = true;

 private:
  void Log(const std::string& text) {
    const auto us = std::chrono::duration_cast<microseconds>(now_).count();
    log.push_back(std::to_string(us) + " us: " + text);
  }
  Script script_;
  Instant now_{0};
};

/// Dials at its first Tick, and sends messages of these sizes when it is connected.
Probe::Script Sends(Address to, std::vector<std::size_t> sizes) {
  return [to, sizes, dialled = false](Probe& probe, const Event& event) mutable {
    if (std::holds_alternative<Tick>(event) && !std::exchange(dialled, true))
      probe.Emit(Dial{1, to});
    if (std::holds_alternative<Connected>(event))
      for (const std::size_t size : sizes) probe.Emit(Send{1, Slice(Share(Bytes(size)))});
  };
}

/// Answers every message with one byte.
void Echo(Probe& probe, const Event& event) {
  if (const auto* received = std::get_if<Received>(&event))
    probe.Emit(Send{received->line, Slice(Share(Bytes(1)))});
}

struct Model {
  explicit Model(Conditions conditions = {}) : network(1, Fixed(conditions)) {}
  static Conditions Fixed(Conditions conditions) {
    conditions.latency_min = conditions.latency_max = kLatency;
    conditions.local_latency = kLocal;
    conditions.chunk_max = Conditions::kUncut;
    return conditions;
  }
  NodeId Add(HostId host, Probe::Script script = {}, Instant start = Instant(0)) {
    const auto port = static_cast<std::uint16_t>(1 + network.nodes());
    return network.Add(std::make_unique<Probe>(std::move(script)), AddressOf(host, port), start,
                       host);
  }
  NodeId AddWithoutHost(const Address& address, Probe::Script script = {}) {
    return network.Add(std::make_unique<Probe>(std::move(script)), address, Instant(0));
  }
  static Address AddressOf(HostId host, std::uint16_t port) {
    return Network::AddressOn(host, port);
  }
  Probe& probe(NodeId node) { return static_cast<Probe&>(network.machine(node)); }
  const std::vector<std::string>& log(NodeId node) { return probe(node).log; }
  void Run() { ASSERT_TRUE(network.Run(kLong)); }
  Network network;
};

TEST(Model, ADialTakesTwoLatenciesBetweenHostsAndOneWithin) {
  Model model;
  const NodeId home = model.Add(0);
  const NodeId far = model.Add(1, Sends(Model::AddressOf(0, 1), {7}));
  model.Run();
  EXPECT_THAT(model.log(far), ElementsAre("40 us: connected"));
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: 7 bytes"));
  EXPECT_EQ(model.probe(home).from.ip, Network::AddressOn(1, 0).ip);
  EXPECT_EQ(model.network.depth(home), 3u) << "SYN, SYN/ACK, data";
  const NodeId near = model.Add(0, Sends(Model::AddressOf(0, 1), {}), microseconds(100));
  model.Run();
  EXPECT_THAT(model.log(near), ElementsAre("110 us: connected"));
}

TEST(Model, ADialWithoutAHostTakesOneLatency) {
  Model model;
  const Address address = Address::Ipv4(10, 0, 0, 1, 1);
  const NodeId home = model.AddWithoutHost(address);
  const NodeId caller = model.AddWithoutHost({}, Sends(address, {7}));
  const NodeId hosted = model.Add(0);
  const NodeId other = model.AddWithoutHost({}, Sends(Model::AddressOf(0, 3), {}));
  model.Run();
  EXPECT_THAT(model.log(caller), ElementsAre("20 us: connected"));
  EXPECT_THAT(model.log(home), ElementsAre("20 us: accepted", "40 us: 7 bytes"));
  EXPECT_EQ(model.network.depth(caller), 1u);
  EXPECT_EQ(model.network.depth(home), 2u) << "the dial and the message";
  EXPECT_THAT(model.log(other), ElementsAre("20 us: connected"));
  EXPECT_THAT(model.log(hosted), ElementsAre("20 us: accepted"));
  // It has no address of its own, so it gets one reserved for documentation (RFC 5737).
  EXPECT_EQ(model.probe(home).from,
            Address::Ipv4(192, 0, 2, 1, static_cast<std::uint16_t>(caller)));
}

TEST(Model, ACallerOfAFullMachineWaitsWithItsMessages) {
  Model model;
  const NodeId home = model.Add(0, [](Probe& probe, const Event& event) {
    // Room for one at a time, until that one has sent two messages.
    if (std::holds_alternative<Accepted>(event)) probe.accepting = false;
    if (!probe.log.empty() && probe.log.size() % 3 == 0) probe.accepting = true;
  });
  model.probe(home).accepting = false;
  model.Add(1, Sends(Model::AddressOf(0, 1), {1, 2}));
  model.Add(2, Sends(Model::AddressOf(0, 1), {3, 4}));
  const NodeId doomed = model.Add(3, Sends(Model::AddressOf(0, 1), {5, 6}));
  model.Run();
  EXPECT_THAT(model.log(home), IsEmpty());
  EXPECT_THAT(model.log(doomed), ElementsAre("40 us: connected"));
  model.network.Kill(doomed, microseconds(500));
  ASSERT_TRUE(model.network.Run(microseconds(900)));
  model.probe(home).accepting = true;
  model.network.RequestTick(home, Network::kOrigin + microseconds(1000));
  model.Run();
  EXPECT_THAT(
      model.log(home),
      ElementsAre("1000 us: accepted", "1000 us: 1 bytes", "1000 us: 2 bytes", "1000 us: accepted",
                  "1000 us: 3 bytes", "1000 us: 4 bytes", "1000 us: accepted", "1000 us: 5 bytes",
                  "1000 us: 6 bytes", "1000 us: connection closed by the peer"));
}

TEST(Model, AFullMachineReceivesFromAcceptedCallers) {
  Model model;
  const NodeId home = model.Add(0, [](Probe& probe, const Event& event) {
    if (std::holds_alternative<Accepted>(event)) probe.accepting = false;
  });
  model.Add(1,
            [sends = Sends(Model::AddressOf(0, 1), {1})](Probe& probe, const Event& event) mutable {
              sends(probe, event);
              if (std::holds_alternative<Connected>(event))
                probe.deadline = Network::kOrigin + microseconds(500);
              if (std::holds_alternative<Tick>(event) && probe.deadline) {
                probe.deadline = Network::kOrigin + kLong * 2;
                probe.Emit(Send{1, Slice(Share(Bytes(2)))});
              }
            });
  model.Add(2, Sends(Model::AddressOf(0, 1), {3}), microseconds(100));
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: 1 bytes", "520 us: 2 bytes"));
}

TEST(Model, AWaitingCallerReceivesTheDeathOfTheMachine) {
  Model model;
  const NodeId home = model.Add(0);
  model.probe(home).accepting = false;
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {1}));
  model.network.Kill(home, microseconds(200));
  model.Run();
  EXPECT_THAT(model.log(home), IsEmpty());
  EXPECT_EQ(model.log(caller).back(), "220 us: connection closed by the peer");
}

TEST(Model, AMessageCrossesTwoCardsAndQueuesOnBoth) {
  Model model({.mb_per_s = 100});
  const NodeId home = model.Add(0);
  model.Add(1, Sends(Model::AddressOf(0, 1), {1000, 1000}));
  model.Add(2, Sends(Model::AddressOf(0, 1), {500}), microseconds(3));
  model.Run();
  // 1000 bytes are 10 us: out by 50 and 60, at the other card by 70 and 80. The 500 of the third
  // are out by 48, at the card by 68 and in by 73, so that the first 1000 wait until then.
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "63 us: accepted", "73 us: 500 bytes",
                                           "83 us: 1000 bytes", "93 us: 1000 bytes"));
  EXPECT_EQ(model.network.host_traffic(0).bytes_received, 2500u);
  EXPECT_EQ(model.network.host_traffic(1).bytes_sent, 2000u);
}

TEST(Model, AMessageWithinAHostUsesNoCard) {
  Model model({.mb_per_s = 1});
  const NodeId home = model.Add(0);
  model.Add(0, Sends(Model::AddressOf(0, 1), {1'000'000}));
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("15 us: accepted", "15 us: 1000000 bytes"));
  EXPECT_EQ(model.network.host_traffic(0).bytes_received, 0u);
}

TEST(Model, ABusyProcessorServesOneEventAfterTheOther) {
  Model model({.cpu_per_event = microseconds(10), .cpu_per_kib = microseconds(4)});
  const NodeId home = model.Add(0);
  for (HostId host = 1; host <= 3; ++host)
    model.Add(host, Sends(Model::AddressOf(0, 1), {1024}), microseconds(0));
  model.Run();
  // The diallers: a turn until 10, connected at 50, handled at 60.
  EXPECT_THAT(model.log(home),
              ElementsAre("80 us: accepted", "90 us: accepted", "100 us: accepted",
                          "114 us: 1024 bytes", "128 us: 1024 bytes", "142 us: 1024 bytes"));
}

// A close is free here, but the message before it is not.
TEST(Model, MessagesKeepTheirOrderAtABusyProcessor) {
  Model model({.cpu_per_kib = microseconds(10)});
  const NodeId home = model.Add(0);
  model.Add(1, [](Probe& probe, const Event& event) {
    Sends(Model::AddressOf(0, 1), {2048, 1})(probe, event);
    if (std::holds_alternative<Connected>(event)) probe.Emit(Hangup{1});
  });
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "80 us: 2048 bytes", "80 us: 1 bytes",
                                           "80 us: connection closed by the peer"));
}

TEST(Model, ASlowNodeHasAProcessorOfItsOwnSpeed) {
  Model model;
  const NodeId home = model.Add(0);
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {1, 1}));
  model.network.Slow(home, microseconds(100));
  model.Run();
  EXPECT_THAT(model.log(caller), ElementsAre("40 us: connected"));
  EXPECT_THAT(model.log(home),
              ElementsAre("200 us: accepted", "300 us: 1 bytes", "400 us: 1 bytes"));
}

TEST(Model, EqualUnixNamesOnTwoHostsAreTwoListeners) {
  Model model;
  std::vector<NodeId> homes, callers;
  for (HostId host = 0; host < 2; ++host) {
    homes.push_back(model.Add(host));
    model.network.Listen(homes.back(), Address::Unix("leader"));
    callers.push_back(model.Add(host, Sends(Address::Unix("leader"), {host + 1})));
  }
  const NodeId stray = model.Add(2, Sends(Address::Unix("leader"), {}));
  model.Run();
  EXPECT_THAT(model.log(homes[0]), ElementsAre("5 us: accepted", "10 us: 1 bytes"));
  EXPECT_THAT(model.log(homes[1]), ElementsAre("5 us: accepted", "10 us: 2 bytes"));
  EXPECT_THAT(model.log(stray), ElementsAre("5 us: connection refused"));
  EXPECT_EQ(model.probe(homes[0]).from.kind, Address::Kind::kUnix);
}

TEST(Model, ANodeListensAtSeveralAddresses) {
  Model model;
  const NodeId home = model.Add(0);
  model.network.Listen(home, Model::AddressOf(0, 9));
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{9}})
    model.Add(1, Sends(Model::AddressOf(0, port), {}));
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: accepted"));
  EXPECT_EQ(model.network.traffic(home).accepted, 2u);
}

TEST(Model, ForwardsASliceWithoutACopy) {
  Model model({.mb_per_s = 1000});
  const SharedBytes bytes = Share(Bytes(1'000'000));
  const NodeId last = model.Add(2);
  const NodeId middle = model.Add(1, [](Probe& probe, const Event& event) {
    if (std::holds_alternative<Tick>(event)) probe.Emit(Dial{1, Model::AddressOf(2, 1)});
    if (const auto* received = std::get_if<Received>(&event)) probe.Emit(Send{1, received->data});
  });
  const auto first = [&](Probe& probe, const Event& event) {
    if (std::holds_alternative<Tick>(event)) probe.Emit(Dial{1, Model::AddressOf(1, 2)});
    if (std::holds_alternative<Connected>(event)) probe.Emit(Send{1, Slice(bytes)});
  };
  model.Add(0, first, microseconds(100));
  model.Run();
  EXPECT_EQ(model.probe(middle).data.owner, bytes);
  EXPECT_EQ(model.probe(last).data.owner, bytes);
  EXPECT_EQ(model.probe(last).data.bytes.data(), bytes->data());
}

TEST(Model, ANodeThatHungUpReceivesNoMore) {
  Model model;
  const NodeId home = model.Add(0, Echo);
  const NodeId caller = model.Add(1, [&](Probe& probe, const Event& event) {
    Sends(Model::AddressOf(0, 1), {1, 2})(probe, event);
    if (std::holds_alternative<Connected>(event)) probe.Emit(Hangup{1});
  });
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: 1 bytes", "60 us: 2 bytes",
                                           "60 us: connection closed by the peer"));
  EXPECT_THAT(model.log(caller), ElementsAre("40 us: connected"));
}

TEST(Model, HangingUpOnAClosedOrUnknownLineIsIgnored) {
  Model model;
  const NodeId home = model.Add(0);
  const NodeId caller = model.Add(1, [](Probe& probe, const Event& event) {
    Sends(Model::AddressOf(0, 1), {1})(probe, event);
    if (!std::holds_alternative<Connected>(event)) return;
    for (const LineId line : {1u, 1u, 99u}) probe.Emit(Hangup{line});
  });
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: 1 bytes",
                                           "60 us: connection closed by the peer"));
  EXPECT_THAT(model.log(caller), ElementsAre("40 us: connected"));
}

TEST(Model, TheLinesOfADyingNodeCloseInOrder) {
  Model model;
  const NodeId home = model.Add(0);
  std::vector<LineId> closed;
  model.Add(1, [&](Probe& probe, const Event& event) {
    if (std::holds_alternative<Tick>(event))
      for (const LineId line : {1u, 2u, 3u, 4u}) probe.Emit(Dial{line, Model::AddressOf(0, 1)});
    if (const auto* hung_up = std::get_if<Closed>(&event)) closed.push_back(hung_up->line);
  });
  model.network.Kill(home, microseconds(500));
  model.Run();
  EXPECT_THAT(closed, ElementsAre(1, 2, 3, 4));
}

// Messages in transit to a closed line must not reach its successor.
TEST(Model, ANewLineReceivesNothingOfTheOldOne) {
  Model model;
  const NodeId home = model.Add(0, [](Probe& probe, const Event& event) {
    if (const auto* accepted = std::get_if<Accepted>(&event))
      probe.Emit(
          Send{accepted->line, Slice(Share(Bytes(accepted->line - kFirstAcceptedLine + 1)))});
  });
  const NodeId caller = model.Add(1, [](Probe& probe, const Event& event) {
    if (!std::holds_alternative<Tick>(event)) return;
    if (probe.deadline) probe.Emit(Hangup{1});
    probe.Emit(Dial{probe.deadline ? 2u : 1u, Model::AddressOf(0, 1)});
    probe.deadline = Network::kOrigin + (probe.deadline ? kLong * 2 : microseconds(70));
  });
  model.Run();
  EXPECT_THAT(
      model.log(home),
      ElementsAre("60 us: accepted", "90 us: connection closed by the peer", "130 us: accepted"));
  EXPECT_THAT(model.log(caller),
              ElementsAre("40 us: connected", "110 us: connected", "150 us: 2 bytes"));
}

TEST(Model, DepthIsTheLongestChainOfMessages) {
  Model model;
  const NodeId home = model.Add(0, Echo);
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {1, 1}));
  const NodeId idle = model.Add(2);
  model.Run();
  EXPECT_EQ(model.network.depth(home), 3u) << "SYN, SYN/ACK, message";
  EXPECT_EQ(model.network.depth(caller), 4u) << "and the echo";
  EXPECT_EQ(model.network.depth(idle), 0u);
}

TEST(Model, TheDepthOfADialledNodeIncludesTheHandshake) {
  Model model;
  const Address address = Address::Ipv4(10, 9, 9, 9, 1);
  const NodeId far = model.Add(0), near = model.Add(1), alone = model.AddWithoutHost(address);
  model.network.Listen(near, Address::Unix("leader"));
  model.Add(1, Sends(Model::AddressOf(0, 1), {}));
  model.Add(1, Sends(Address::Unix("leader"), {}));
  model.AddWithoutHost({}, Sends(address, {}));
  model.Run();
  EXPECT_EQ(model.network.depth(far), 3u) << "SYN, SYN/ACK, ACK";
  EXPECT_EQ(model.network.depth(near), 1u);
  EXPECT_EQ(model.network.depth(alone), 1u);
}

TEST(Model, ARefusalAndACloseCountAsMessages) {
  Model model;
  const NodeId home = model.Add(0);
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {1}));
  const NodeId refused = model.Add(2, Sends(Model::AddressOf(0, 99), {}));
  model.Add(3, {}, microseconds(490));  // the last event elsewhere does not count
  model.network.Kill(home, microseconds(500));
  model.Run();
  EXPECT_EQ(model.network.depth(refused), 2u) << "SYN, RST";
  EXPECT_EQ(model.network.depth(caller), 4u) << "SYN, SYN/ACK, message, FIN";
}

TEST(Model, ADialByNameWithinAHostIsOneMessage) {
  Model model;
  const NodeId home = model.Add(0);
  model.network.Listen(home, Address::Unix("leader"));
  const NodeId caller = model.Add(0, Sends(Address::Unix("leader"), {1}));
  model.Run();
  EXPECT_EQ(model.network.depth(caller), 1u);
  EXPECT_EQ(model.network.depth(home), 2u);
}

TEST(Model, SeparateCallersDoNotAddToEachOthersDepth) {
  Model model;
  const NodeId home = model.Add(0, Echo);
  std::vector<NodeId> callers;
  for (std::uint32_t i = 0; i < 10; ++i)
    callers.push_back(
        model.Add(1, Sends(Model::AddressOf(0, 1), {1}), std::chrono::milliseconds(i)));
  model.Run();
  for (const NodeId caller : callers) EXPECT_EQ(model.network.depth(caller), 4u);
  EXPECT_EQ(model.network.depth(home), 3u);
}

TEST(Model, ALaterMessageAddsToTheDepthOfEarlierOnes) {
  Model model;
  const NodeId home = model.Add(0, [](Probe& probe, const Event& event) {
    if (std::holds_alternative<Received>(event))
      probe.deadline = Network::kOrigin + std::chrono::milliseconds(1);
    if (std::holds_alternative<Tick>(event) && probe.deadline) {
      probe.deadline.reset();
      probe.Emit(Send{kFirstAcceptedLine, Slice(Share(Bytes(1)))});
    }
  });
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {1}));
  model.Run();
  EXPECT_EQ(model.network.depth(home), 3u);
  EXPECT_EQ(model.network.depth(caller), 4u);
}

TEST(Model, CountsTraffic) {
  Model model;
  const NodeId home = model.Add(0, Echo);
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {100, 50}));
  model.Run();
  const Traffic& home_traffic = model.network.traffic(home);
  const Traffic& caller_traffic = model.network.traffic(caller);
  EXPECT_EQ(caller_traffic.bytes_sent, 150u);
  EXPECT_EQ(caller_traffic.messages_sent, 2u);
  EXPECT_EQ(caller_traffic.bytes_received, 2u);
  EXPECT_EQ(caller_traffic.dialled, 1u);
  EXPECT_EQ(caller_traffic.accepted, 0u);
  EXPECT_EQ(home_traffic.bytes_received, 150u);
  EXPECT_EQ(home_traffic.messages_received, 2u);
  EXPECT_EQ(home_traffic.accepted, 1u);
}

TEST(Model, AKilledHostClosesTheLinesOfAllItsNodes) {
  Model model;
  std::vector<NodeId> homes{model.Add(0), model.Add(0)}, callers;
  for (const std::uint16_t port : {std::uint16_t{1}, std::uint16_t{2}})
    callers.push_back(model.Add(1, Sends(Model::AddressOf(0, port), {})));
  model.network.KillHost(0, microseconds(100));
  const NodeId late = model.Add(1, Sends(Model::AddressOf(0, 1), {}), microseconds(200));
  model.Run();
  for (const NodeId caller : callers)
    EXPECT_THAT(model.log(caller),
                ElementsAre("40 us: connected", "120 us: connection closed by the peer"));
  EXPECT_THAT(model.log(late), ElementsAre("240 us: connection refused"));
  EXPECT_FALSE(model.network.alive(homes[1]));
}

TEST(Model, NodesOfASilencedHostReachOnlyEachOther) {
  Model model;
  const NodeId home = model.Add(0, Echo);
  model.network.IsolateHost(0, microseconds(10));
  const NodeId near = model.Add(0, Sends(Model::AddressOf(0, 1), {3}), microseconds(100));
  const NodeId far = model.Add(1, Sends(Model::AddressOf(0, 1), {3}), microseconds(100));
  model.network.KillHost(0, microseconds(500));
  const NodeId later = model.Add(1, Sends(Model::AddressOf(0, 1), {3}), microseconds(600));
  model.Run();
  EXPECT_THAT(model.log(near), ElementsAre("110 us: connected", "120 us: 1 bytes"));
  EXPECT_THAT(model.log(far), IsEmpty());
  EXPECT_THAT(model.log(later), IsEmpty()) << "nobody is there to refuse";
  EXPECT_FALSE(model.network.alive(home));
}

TEST(Model, ASilencedNodeIsReachableBeforeItsSilence) {
  for (const bool whole_host : {true, false}) {
    Model model;
    const NodeId home = model.Add(0);
    model.Add(1, Sends(Model::AddressOf(0, 1), {1}));
    model.Add(1, Sends(Model::AddressOf(0, 1), {2}), microseconds(200));
    whole_host ? model.network.IsolateHost(0, microseconds(100))
               : model.network.Isolate(home, microseconds(100));
    model.Run();
    EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: 1 bytes"));
  }
}

TEST(Model, AMovedDeadlineFiresOnce) {
  Model model;
  int ticks = 0;
  model.Add(0, [&](Probe& probe, const Event& event) {
    if (std::holds_alternative<Tick>(event)) {
      probe.deadline = Network::kOrigin + (++ticks == 1 ? microseconds(1000) : kLong * 2);
    } else {
      probe.deadline = Network::kOrigin + microseconds(500);
    }
  });
  model.Add(1, Sends(Model::AddressOf(0, 1), {}));
  model.Run();
  EXPECT_EQ(ticks, 2) << "the start, and at 500 us";
}

TEST(Model, ASilencedNodeContinuesItsOwnWork) {
  Model model;
  int ticks = 0;
  const NodeId node = model.Add(0, [&](Probe& probe, const Event& event) {
    ticks += std::holds_alternative<Tick>(event);
    probe.deadline = Network::kOrigin + (ticks == 1 ? microseconds(500) : kLong * 2);
  });
  model.network.Isolate(node, microseconds(100));
  model.Run();
  EXPECT_EQ(ticks, 2) << "its start, and its deadline";
  EXPECT_TRUE(model.network.alive(node));
  EXPECT_FALSE(model.network.reachable(node));
}

TEST(Model, ACutLosesBytesThatWaitForTheCard) {
  Model model({.mb_per_s = 1});
  const NodeId home = model.Add(0);
  model.Add(1, Sends(Model::AddressOf(0, 1), {10, 10}));  // out by 50 and 60 us
  model.network.Cut(1, 0, microseconds(55));
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "80 us: 10 bytes"));
}

TEST(Model, ACutInOneDirectionKeepsTheOther) {
  Model model;
  const NodeId home = model.Add(0, Echo);
  const NodeId caller = model.Add(1, [](Probe& probe, const Event& event) {
    if (std::holds_alternative<Tick>(event) && !probe.deadline) {
      probe.Emit(Dial{1, Model::AddressOf(0, 1)});
      probe.deadline = Network::kOrigin + microseconds(200);
    } else if (std::holds_alternative<Tick>(event)) {
      probe.deadline = Network::kOrigin + kLong * 2;
      probe.Emit(Send{1, Slice(Share(Bytes(9)))});
    }
  });
  model.network.Cut(0, 1, microseconds(100));
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "220 us: 9 bytes"));
  EXPECT_THAT(model.log(caller), ElementsAre("40 us: connected")) << "the echo is lost";
}

TEST(Model, ADialNeedsBothDirections) {
  for (const bool there : {true, false}) {
    Model model;
    const NodeId home = model.Add(0);
    const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {1}));
    const NodeId other = model.Add(2, Sends(Model::AddressOf(0, 1), {2}));
    model.network.Cut(there ? 1 : 0, there ? 0 : 1, Instant(0));
    model.Run();
    EXPECT_THAT(model.log(caller), IsEmpty());
    EXPECT_THAT(model.log(other), ElementsAre("40 us: connected"));
    EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: 2 bytes"));
  }
}

TEST(Model, AHealedCutDelaysMessagesSentMeanwhile) {
  Model model;
  const NodeId home = model.Add(0);
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {4, 5}));
  model.network.Cut(1, 0, microseconds(30), microseconds(1000));
  model.Run();
  EXPECT_THAT(model.log(caller), ElementsAre("40 us: connected"));
  EXPECT_THAT(model.log(home),
              ElementsAre("60 us: accepted", "1020 us: 4 bytes", "1020 us: 5 bytes"));
}

TEST(Model, AHealedCutDelaysADial) {
  for (const bool there : {true, false}) {
    Model model;
    model.Add(0);
    const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {}));
    model.network.Cut(there ? 1 : 0, there ? 0 : 1, Instant(0), microseconds(1000));
    model.Run();
    EXPECT_THAT(model.log(caller), ElementsAre("1040 us: connected"));
  }
}

TEST(Model, ACutDoesNotDelayMessagesToOtherHosts) {
  Model model({.mb_per_s = 1000});
  const NodeId behind = model.Add(0), beside = model.Add(2);
  model.Add(1, [](Probe& probe, const Event& event) {
    if (std::holds_alternative<Tick>(event) && !probe.deadline) {
      probe.deadline = Network::kOrigin + kLong * 2;
      probe.Emit(Dial{1, Model::AddressOf(0, 1)});
      probe.Emit(Dial{2, Model::AddressOf(2, 2)});
    }
    if (const auto* connected = std::get_if<Connected>(&event))
      probe.Emit(Send{connected->line, Slice(Share(Bytes(1000)))});
  });
  model.network.Cut(1, 0, microseconds(30), microseconds(1000));
  model.Run();
  EXPECT_THAT(model.log(behind), ElementsAre("60 us: accepted", "1021 us: 1000 bytes"));
  EXPECT_THAT(model.log(beside), ElementsAre("60 us: accepted", "63 us: 1000 bytes"));
}

TEST(Model, AStoppedNodeReceivesEverythingInOrderAfterwards) {
  Model model;
  const NodeId home = model.Add(0, Echo);
  const NodeId caller = model.Add(1, Sends(Model::AddressOf(0, 1), {4, 5}));
  model.network.Stop(home, microseconds(10), microseconds(1000));
  model.Run();
  EXPECT_THAT(model.log(home),
              ElementsAre("1000 us: accepted", "1000 us: 4 bytes", "1000 us: 5 bytes"));
  EXPECT_THAT(model.log(caller),
              ElementsAre("40 us: connected", "1020 us: 1 bytes", "1020 us: 1 bytes"));
}

TEST(Model, AStoppedNodeThatIsKilledReceivesNothing) {
  Model model;
  const NodeId home = model.Add(0);
  model.Add(1, Sends(Model::AddressOf(0, 1), {4}));
  model.network.Stop(home, microseconds(10), microseconds(1000));
  model.network.Kill(home, microseconds(500));
  model.Run();
  EXPECT_THAT(model.log(home), IsEmpty());
}

TEST(Model, ALateStarterRefusesUntilItStarts) {
  Model model;
  const NodeId home = model.Add(0, {}, microseconds(100));
  const NodeId early = model.Add(1, Sends(Model::AddressOf(0, 1), {}));
  const NodeId late = model.Add(1, Sends(Model::AddressOf(0, 1), {}), microseconds(100));
  model.Run();
  EXPECT_THAT(model.log(early), ElementsAre("40 us: connection refused"));
  EXPECT_THAT(model.log(late), ElementsAre("140 us: connected"));
  EXPECT_THAT(model.log(home), ElementsAre("160 us: accepted"));
}

TEST(Model, RefusesAtTheConfiguredRate) {
  Model model({.refuse = 0.25});
  model.Add(0);
  std::vector<NodeId> callers;
  for (int i = 0; i < 1000; ++i) callers.push_back(model.Add(1, Sends(Model::AddressOf(0, 1), {})));
  model.Run();
  int refused = 0;
  for (const NodeId caller : callers) refused += model.log(caller)[0].ends_with("refused");
  EXPECT_NEAR(refused, 250, 60);
}

TEST(Model, CorruptionChangesOneByteOfSomeMessages) {
  Model model({.corrupt = 0.25});
  int changed = 0;
  model.Add(0, [&](Probe& probe, const Event& event) {
    if (!std::holds_alternative<Received>(event)) return;
    const auto wrong =
        std::ranges::count_if(probe.data.bytes, [](std::byte b) { return b != std::byte{0}; });
    ASSERT_LE(wrong, 1);
    changed += static_cast<int>(wrong);
  });
  model.Add(1, Sends(Model::AddressOf(0, 1), std::vector<std::size_t>(1000, 30)));
  model.Run();
  EXPECT_NEAR(changed, 250, 60);
}

TEST(Model, ACorruptedMessageDiffersFromTheSentOne) {
  Model model({.corrupt = 1});
  int unchanged = 0;
  model.Add(0, [&](Probe& probe, const Event& event) {
    if (!std::holds_alternative<Received>(event)) return;
    unchanged +=
        std::ranges::all_of(probe.data.bytes, [](std::byte b) { return b == std::byte{0}; });
  });
  model.Add(1, Sends(Model::AddressOf(0, 1), std::vector<std::size_t>(3000, 3)));
  model.Run();
  EXPECT_EQ(unchanged, 0);
}

TEST(Model, AHaltedRunContinuesLater) {
  Model model;
  const NodeId home = model.Add(0);
  model.Add(1, Sends(Model::AddressOf(0, 1), {1, 2}));
  model.network.Observe([&](NodeId node) {
    if (node == home && model.log(home).size() == 2) model.network.Halt();
  });
  model.Run();
  EXPECT_THAT(model.log(home), ElementsAre("60 us: accepted", "60 us: 1 bytes"));
  model.Run();
  EXPECT_EQ(model.log(home).size(), 3u);
}

TEST(Model, EqualSeedsGiveEqualRunsWithEveryFault) {
  const auto run = [](std::uint64_t seed) {
    Network network(seed, {.refuse = 0.1,
                           .chunk_max = 100,
                           .corrupt = 0.1,
                           .mb_per_s = 10,
                           .cpu_per_event = microseconds(1),
                           .cpu_per_kib = microseconds(1)});
    for (std::uint32_t i = 0; i < 50; ++i)
      network.Add(std::make_unique<Probe>(Sends(Network::AddressOn((i * 7) % 10, 1), {i * 50})),
                  i < 10 ? Network::AddressOn(i, 1) : Address(), microseconds(i / 10), i % 10);
    network.Stop(3, microseconds(100), microseconds(900));
    network.Cut(2, 3, microseconds(100), microseconds(500));
    network.KillHost(4, microseconds(800));
    network.Run(kLong);
    return network.trace();
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

}  // namespace
}  // namespace ringlet::sim
