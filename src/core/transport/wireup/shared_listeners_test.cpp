#include "transport/wireup/shared_listeners.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "transport/wireup/ranks_for_test.hpp"

namespace ringlet::transport {
namespace {

using Kind = ServiceKey::Kind;

ListenerSetOptions Loopback() {
  return {.interfaces = {Address::Ipv4(127, 0, 0, 1, 0)}, .seed = UniqueSeed()};
}

struct ListenersRig {
  explicit ListenersRig(SharedListeners::Options options = {})
      : endpoints(thread.driver(), std::move(options)) {}

  DriverThread thread;
  SharedListeners endpoints;

  ListenerSet Open(const ServiceKey& key, const ListenerSetOptions& options = Loopback()) {
    auto opened = endpoints.Open(options, key);
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    return std::move(opened).value();
  }
};

TEST(SharedListeners, ReturnsTheUnixSocketOfALocalService) {
  DriverThread driver;
  SharedListeners endpoints(driver.driver(), {});
  const ServiceKey key{77, ServiceKey::Kind::kRoot};
  EXPECT_EQ(endpoints.UnixSocketOf(key), std::nullopt);
  const auto set = endpoints.Open(
      {.interfaces = {Address::Ipv4(127, 0, 0, 1, 0)}, .seed = UniqueSeed(), .unix_listener = true},
      key);
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(endpoints.UnixSocketOf(key), set->unix_socket);
  EXPECT_EQ(endpoints.UnixSocketOf({78, ServiceKey::Kind::kRoot}), std::nullopt);
}

TEST(SharedListeners, ManyCommunicatorsShareAnEndpoint) {
  ListenersRig rig;
  std::vector<ListenerSet> open;
  for (std::uint64_t magic = 1; magic <= 100; ++magic)
    for (const Kind kind : {Kind::kRoot, Kind::kControl, Kind::kData})
      open.push_back(rig.Open({magic, kind}));
  EXPECT_EQ(rig.endpoints.size(), 1u);
  EXPECT_EQ(open.front().tcp, open.back().tcp);
  EXPECT_TRUE(open.front().listeners.empty());
  const ListenerSet second = rig.Open({1, Kind::kData});
  EXPECT_EQ(rig.endpoints.size(), 2u) << "another rank of the same communicator";
  EXPECT_NE(second.tcp, open.front().tcp);
  EXPECT_NE(second.unix_socket, open.front().unix_socket);
  EXPECT_EQ(rig.Open({2, Kind::kData}).tcp, second.tcp);
}

TEST(SharedListeners, TheFirstEndpointStaysAndOthersCloseWithTheirLastUser) {
  ListenersRig rig;
  ListenerSet first = rig.Open({1, Kind::kData}), second = rig.Open({1, Kind::kData});
  const auto tcp = first.tcp;
  first = {};
  second = {};
  EXPECT_EQ(rig.endpoints.size(), 1u);
  EXPECT_EQ(rig.Open({7, Kind::kData}).tcp, tcp);
}

TEST(SharedListeners, OtherAddressesHaveAnotherEndpoint) {
  ListenersRig rig;
  ListenerSet v4 = rig.Open({1, Kind::kData});
  ListenerSetOptions other = Loopback();
  other.interfaces = {Address::Ipv4(127, 0, 0, 2, 0)};
  const ListenerSet there = rig.Open({2, Kind::kData}, other);
  EXPECT_EQ(there.tcp.front().ip[3], 2);
  EXPECT_EQ(rig.endpoints.size(), 2u);
  v4 = {};
  other.interfaces = {Address::Ipv4(127, 0, 0, 3, 0)};
  const ListenerSet third = rig.Open({3, Kind::kData}, other);
  EXPECT_EQ(rig.endpoints.size(), 2u) << "what nobody uses goes when addresses are others";
}

TEST(SharedListeners, InterfacesKeepTheOrderOfEachUser) {
  ListenersRig rig;
  ListenerSetOptions options = Loopback();
  options.interfaces = {Address::Ipv4(127, 0, 0, 1, 0), Address::Ipv4(127, 0, 0, 2, 0)};
  const ListenerSet a = rig.Open({1, Kind::kControl}, options);
  std::ranges::reverse(options.interfaces);
  options.preferred = 1;
  options.unix_listener = false;
  const ListenerSet b = rig.Open({1, Kind::kData}, options);
  ASSERT_EQ(rig.endpoints.size(), 1u);
  EXPECT_EQ(b.tcp[0], a.tcp[1]);
  EXPECT_EQ(b.tcp[1], a.tcp[0]);
  EXPECT_EQ(b.preferred, 1u);
  EXPECT_EQ(b.unix_socket.kind, Address::Kind::kNone);
}

// The machine of one key. Records the bytes that it receives and their sender.
class Ear final : public Machine {
 public:
  void Handle(const Event& event, Instant) override {
    if (const auto* received = std::get_if<Received>(&event)) {
      const View view = received->data.bytes;
      heard_.insert(heard_.end(), view.begin(), view.end());
      if (heard_.size() == kHelloBytes && !told_) {
        told_ = true;
        whole.set_value(heard_);
      }
    }
  }
  std::optional<Instant> Deadline() const override { return std::nullopt; }
  bool Finished() const override { return false; }
  std::promise<Bytes> whole;

 private:
  Bytes heard_;
  bool told_ = false;
};

// Sends a Hello.
class Voice final : public Machine {
 public:
  Voice(const Address& to, Bytes hello) {
    Emit(Dial{1, to});
    Emit(Send{1, Slice(Share(std::move(hello)))});
  }
  void Handle(const Event& event, Instant) override {
    if (std::holds_alternative<Closed>(event)) hung_up.set_value();
  }
  std::optional<Instant> Deadline() const override { return std::nullopt; }
  bool Finished() const override { return false; }
  std::promise<void> hung_up;
};

// Sends the Hello of a peer of communicator 42, as an attacker that has recorded it can.
std::future<void> Repeat(ListenersRig& rig, const Address& to) {
  const auto voice = std::make_shared<Voice>(
      to, Handshake::Dialler({42, {}}, Purpose::kData, Nonce{}).TakeOutput());
  rig.thread.driver().Post(
      [&rig, voice] { rig.thread.driver().Add({.machine = voice, .listeners = {}}); });
  return voice->hung_up.get_future();
}

void ExpectHungUp(const std::future<void>& hung_up) {
  EXPECT_EQ(hung_up.wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

TEST(SharedListeners, ACallerDoesNotWaitLongForAnEntranceThatStaysClosed) {
  ListenersRig rig({.timeout = std::chrono::milliseconds(20)});
  const ListenerSet endpoint = rig.Open({42, Kind::kData});
  ExpectHungUp(Repeat(rig, endpoint.tcp.front()));
}

TEST(SharedListeners, BoundsWaitingCallersAndRefusesThemAfterTheEnd) {
  ListenersRig rig({.timeout = std::chrono::hours(1), .half_open_max = 2});
  ListenerSet endpoint = rig.Open({42, Kind::kData});
  std::vector<std::future<void>> callers;
  for (int i = 0; i < 3; ++i) callers.push_back(Repeat(rig, endpoint.tcp.front()));
  const auto is_over = [](const auto& caller) {
    return caller.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  while (std::ranges::none_of(callers, is_over)) std::this_thread::yield();
  EXPECT_EQ(std::ranges::count_if(callers, is_over), 1) << "the one that found no room";
  endpoint = {};
  for (const auto& caller : callers) ExpectHungUp(caller);
}

TEST(SharedListeners, ACallerReachesTheMachineOfItsCommunicatorOnAnotherThread) {
  for (const bool early : {false, true}) {
    ListenersRig rig;
    DriverThread other;
    const ServiceKey key{42, Kind::kData};
    const ListenerSet endpoint = rig.Open(key), beside = rig.Open({43, Kind::kData});
    const auto ear = std::make_shared<Ear>();
    const Bytes hello = Handshake::Dialler({42, {}}, Purpose::kData, Nonce{}).TakeOutput();
    auto whole = ear->whole.get_future();
    const auto listen = [&] {
      other.driver().Post([&] {
        other.driver().Add({.machine = ear, .listeners = {}, .entrance = endpoint.entrance});
      });
    };
    if (!early) listen();
    for (const Address& to : {endpoint.tcp.front()})
      rig.thread.driver().Post([&rig, to, hello] {
        rig.thread.driver().Add({.machine = std::make_shared<Voice>(to, hello), .listeners = {}});
      });
    if (early) listen();  // it waits for its machine
    ASSERT_EQ(whole.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    EXPECT_EQ(whole.get(), hello);
  }
}

}  // namespace
}  // namespace ringlet::transport
