// One member in a test, and its peers: a root, a tree of four, callers.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "bootstrap/fake_ranks_for_test.hpp"
#include "bootstrap/machine_driver_for_test.hpp"
#include "bootstrap/member/member.hpp"
#include "bootstrap/root.hpp"

namespace ringlet::bootstrap {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

inline const Credentials kCredentials{77, {}};

inline MemberConfig Config(std::uint32_t rank, std::uint32_t size, Shape shape = Shape::kTree) {
  MemberConfig config;
  config.roots = {{kCredentials, {Address::Ipv4(10, 255, 0, 1, 1)}}};
  config.rank = Rank{rank};
  config.size = size;
  config.member_address = FakeRank(rank);
  config.shape = shape;
  config.arity = 2;
  config.timeout = seconds(10);
  config.silence_max = Instant(0);
  config.half_open_max = 3;
  config.strangers_noted_max = 4;
  config.mailbox = {.messages_max = 2, .bytes_max = 1000};
  return config;
}

// The configuration of a rank on a host with a node leader.
inline MemberConfig OnHost(std::uint32_t rank, bool speaks) {
  MemberConfig config = Config(rank, 4);
  config.node_leader = Address::Unix("node leader");
  config.speaks = speaks;
  return config;
}

// A group formed from the world.
inline constexpr GroupId kChild = 900;

// The first frame of a caller. The default is that of the parent of rank 1 in a binary tree of 4.
inline Bytes Call(std::uint32_t rank, PlaceRange subtree = {1, 2}) {
  return ToFrame(Identify{rank, subtree});
}

// One member. The test plays its peers.
class Scene {
 public:
  explicit Scene(MemberConfig config) : member(std::move(config)), driver(member) {
    driver.Deliver(Tick{});
  }

  /// Answers the pending dial to `to`, with the right secret or another one.
  FarEnd& Answer(const Address& to, const Credentials& credentials = kCredentials) {
    const auto dial = std::ranges::find_if(driver.dials, [&](const Dial& one) {
      return one.to == to && !answered.contains(one.line);
    });
    if (dial == driver.dials.end()) ADD_FAILURE() << "no dial to " << ToString(to);
    answered.insert(dial->line);
    return far_ends.emplace_back(driver, *dial, credentials);
  }
  FarEnd& Call(Purpose purpose, const Credentials& credentials = kCredentials) {
    Nonce nonce{};
    nonce[0] = static_cast<std::byte>(next_line);
    return far_ends.emplace_back(driver, next_line++, credentials, purpose, nonce);
  }
  FarEnd& CallAs(std::uint32_t rank, Purpose purpose) {
    FarEnd& far = Call(purpose);
    far.Transmit(bootstrap::Call(rank));
    return far;
  }
  /// Plays the root until the member has checked in and received the welcome.
  FarEnd& CheckIn(std::optional<std::uint32_t> hosted_rank = std::nullopt) {
    FarEnd& root = Answer(Address::Ipv4(10, 255, 0, 1, 1));
    EXPECT_TRUE(root.Take(FrameType::kCheckIn));
    root.Transmit(ToFrame(Welcome{"roothost", 5, hosted_rank}));
    return root;
  }
  std::string Why() const { return member.failure() ? member.failure()->text : "(no failure)"; }

  Member member;
  MachineDriver driver;
  std::set<LineId> answered;
  LineId next_line = kFirstAcceptedLine;
  std::list<FarEnd> far_ends;
};

// Rank 1 of 4 in a binary tree: parent 0, child 2, peer 3.
struct Middle : Scene {
  explicit Middle(bool standing = true, MemberConfig config = Config(1, 4))
      : Scene(std::move(config)) {
    root = &CheckIn(0);
    parent = &CallAs(0, Purpose::kTree);
    parent->Transmit(FrameType::kRoster, RosterOf(4).bytes().bytes);
    child = &Answer(FakeRank(2).addresses[0]);
    child->Take(FrameType::kRoster);
    child->Transmit(FrameType::kReady);
    parent->Take(FrameType::kReady);
    if (standing) parent->Transmit(FrameType::kGo);
  }
  FarEnd* root;
  FarEnd* parent;
  FarEnd* child;
};

// A connection after its handshake.
inline Wire OpenWire() {
  Wire near = Wire::Accepted(kCredentials, {}, kMemberFrameBytesMax);
  Wire far = Wire::Dialled(kCredentials, Purpose::kPeer, {}, kMemberFrameBytesMax);
  while (!near.open() || !far.open()) {
    EXPECT_TRUE(near.Push(Slice(Share(far.TakeReply()))).ok());
    EXPECT_TRUE(far.Push(Slice(Share(near.TakeReply()))).ok());
  }
  return near;
}

// A part of a member without the member. Keeps the actions of the part.
struct Parts {
  explicit Parts(MemberConfig config)
      : common(std::move(config), [this](Action action) { actions.push_back(std::move(action)); }) {
    common.now = common.milestones.started = seconds(1);
  }
  /// The last call succeeds.
  LineId Open() {
    const auto made = std::prev(common.connections.calls().end());
    const Connections::CallInProgress call = std::move(*made);
    common.connections.calls().erase(made);
    common.connections.Open(call, {next_line, OpenWire(), {}}, common.now);
    return next_line++;
  }
  std::size_t dials() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        actions, [](const Action& one) { return std::holds_alternative<Dial>(one); }));
  }
  /// The types of the frames sent on a connection since the last call.
  std::vector<FrameType> TakeSent(LineId line) {
    FrameReader reader(kMemberFrameBytesMax);
    for (const Action& action : actions)
      if (const Send* const send = std::get_if<Send>(&action); send && send->line == line)
        reader.Push(send->data);
    std::erase_if(actions, [&](const Action& one) {
      const Send* const send = std::get_if<Send>(&one);
      return send && send->line == line;
    });
    std::vector<FrameType> types;
    for (auto frame = reader.Next(); frame.ok() && *frame; frame = reader.Next())
      types.push_back(static_cast<FrameType>((*frame)->type));
    return types;
  }

  std::vector<Action> actions;
  MemberCommon common;
  LineId next_line = 100;
};

// The frame in the bytes.
inline Frame FrameOf(const Slice& bytes) {
  FrameReader reader(kMemberFrameBytesMax);
  reader.Push(bytes);
  return *std::move(*reader.Next());
}

}  // namespace ringlet::bootstrap
