#include "base/wire/reception.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace ringlet {
namespace {

constexpr Instant kReceptionStart = std::chrono::seconds(1);
constexpr LineId kCallersLine = kFirstAcceptedLine;

Bytes HelloFor(std::uint64_t magic, Purpose purpose) {
  return Handshake::Dialler({magic, {}}, purpose, Nonce{}).TakeOutput();
}

struct ReceptionRig {
  std::set<ServiceKey> served;
  Reception reception{{.serves = [this](const ServiceKey& key) { return served.contains(key); },
                       .callers = {.half_open_max = 2}}};

  void Come(LineId line, Instant now = kReceptionStart) {
    reception.Handle(Accepted{line, Address::Ipv4(10, 0, 0, 1, 7)}, now);
  }
  void Say(LineId line, View bytes) {
    reception.Handle(Received{line, Slice(bytes)}, kReceptionStart);
  }
  std::vector<Action> Done() {
    std::vector<Action> actions;
    while (auto action = reception.PollAction()) actions.push_back(std::move(*action));
    return actions;
  }
  bool HungUp(LineId line) {
    bool hung_up = false;
    for (const Action& action : Done())
      if (const auto* one = std::get_if<Hangup>(&action)) hung_up = hung_up || one->line == line;
    return hung_up;
  }
};

TEST(Reception, DetachesAConnectionForTheServiceNamedInTheHello) {
  for (const auto& [purpose, kind] :
       std::map<Purpose, ServiceKey::Kind>{{Purpose::kCheckIn, ServiceKey::Kind::kRoot},
                                           {Purpose::kTree, ServiceKey::Kind::kControl},
                                           {Purpose::kRing, ServiceKey::Kind::kControl},
                                           {Purpose::kPeer, ServiceKey::Kind::kControl},
                                           {Purpose::kData, ServiceKey::Kind::kData},
                                           {Purpose::kMemory, ServiceKey::Kind::kData},
                                           {Purpose::kFabric, ServiceKey::Kind::kData}}) {
    ReceptionRig rig;
    rig.served = {{5, kind}};
    rig.Come(kCallersLine);
    const Bytes hello = HelloFor(5, purpose);
    for (std::size_t at = 0; at < hello.size(); ++at) {
      EXPECT_TRUE(rig.Done().empty()) << "not before it is whole";
      rig.Say(kCallersLine, View(hello).subspan(at, 1));
    }
    const auto done = rig.Done();
    ASSERT_EQ(done.size(), 1u);
    ASSERT_TRUE(std::holds_alternative<Detach>(done[0]));
    const Reception::IdentifiedCaller guest = rig.reception.Take(kCallersLine);
    EXPECT_EQ(guest.key, (ServiceKey{5, kind}));
    EXPECT_EQ(guest.said, hello);
    EXPECT_EQ(guest.from, Address::Ipv4(10, 0, 0, 1, 7));
  }
}

TEST(Reception, ACallerForAnUnservedIdGetsAReason) {
  ReceptionRig rig;
  rig.served = {{5, ServiceKey::Kind::kControl}};
  Handshake dialler = Handshake::Dialler({6, {}}, Purpose::kTree, Nonce{});
  rig.Come(kCallersLine);
  rig.Say(kCallersLine, dialler.TakeOutput());
  const auto done = rig.Done();
  ASSERT_EQ(done.size(), 3u);
  View answer = std::get<Send>(done[0]).data.bytes;
  const Status heard = dialler.Push(answer);
  ASSERT_FALSE(heard.ok());
  EXPECT_THAT(heard.error().message, testing::HasSubstr("another communicator"));
  EXPECT_THAT(std::get<Note>(done[1]).text, testing::HasSubstr("0000000000000006"));
  EXPECT_EQ(std::get<Hangup>(done[2]).line, kCallersLine);
}

TEST(Reception, ClosesAConnectionAtItsFirstWrongByte) {
  ReceptionRig rig;
  rig.Come(kCallersLine);
  rig.Say(kCallersLine, AsView("RL"));
  EXPECT_TRUE(rig.Done().empty());
  rig.Say(kCallersLine, AsView("GET / HTTP"));
  EXPECT_TRUE(rig.HungUp(kCallersLine));
  rig.Say(kCallersLine, AsView("more"));
  EXPECT_TRUE(rig.Done().empty()) << "it is gone";
  EXPECT_EQ(rig.reception.strangers(), 1u);
}

TEST(Reception, DropsSilentCallersAndForgetsClosedOnes) {
  ReceptionRig rig;
  rig.Come(kCallersLine);
  rig.Come(kCallersLine + 1);
  EXPECT_FALSE(rig.reception.Accepting()) << "two are as many as it takes";
  rig.reception.Handle(Closed{kCallersLine, "left"}, kReceptionStart);
  EXPECT_TRUE(rig.reception.Accepting());
  rig.Done();
  ASSERT_TRUE(rig.reception.Deadline());
  rig.reception.Handle(Tick{}, kReceptionStart + std::chrono::seconds(11));
  EXPECT_TRUE(rig.HungUp(kCallersLine + 1));
  EXPECT_FALSE(rig.reception.Deadline());
}

TEST(Reception, DropsTheOldestCallerForANewCallerWhenFull) {
  ReceptionRig rig;
  rig.Come(kCallersLine);
  rig.Come(kCallersLine + 1);
  rig.Come(kCallersLine + 2, kReceptionStart + std::chrono::seconds(1));
  EXPECT_TRUE(rig.HungUp(kCallersLine));
}

}  // namespace
}  // namespace ringlet
