#include <map>
#include <memory>
#include <set>

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

constexpr std::uint8_t kLines = 9;
constexpr GroupId kOtherGroup = 77;  // no rank has formed it

// A member in a state, with a connection of one kind that may carry a frame of one type.
struct Walk {
  MemberState state;
  MemberLine line;
  FrameType type;
  Shape shape;

  std::unique_ptr<Scene> scene = {};
  FarEnd* far = nullptr;  // null if no such connection exists
};

bool AtLeast(const Walk& walk, MemberState state) {
  return walk.state >= state;
}

FarEnd* CallerOf(Walk& walk) {
  if (walk.type == FrameType::kCheckIn) return &walk.scene->Call(Purpose::kCheckIn);
  if (AtLeast(walk, MemberState::kReported)) return &walk.scene->Call(Purpose::kPeer);
  return &walk.scene->Call(walk.shape == Shape::kTree ? Purpose::kTree : Purpose::kRing);
}

// Rank 3 of 4, below node leader 2.
void BelowNodeLeader(Walk& walk) {
  MemberConfig config = Config(3, 4);
  config.node_leader = Address::Unix("node leader");
  walk.scene = std::make_unique<Scene>(config);
  if (walk.state != MemberState::kCheckedIn) return;
  walk.far = &walk.scene->Answer(Address::Unix("node leader"));
  if (walk.type == FrameType::kNodeLeader) return;
  Writer two;
  walk.far->Transmit(FrameType::kNodeLeader, two.U32(2).view());
}

// Rank 2 of 4, which checks in for rank 3.
void AboveLocalRank(Walk& walk) {
  MemberConfig config = Config(2, 4);
  config.node_leader = Address::Unix("node leader");
  config.speaks = true;
  walk.scene = std::make_unique<Scene>(config);
  if (walk.state == MemberState::kCheckedIn) walk.scene->CheckIn();
  walk.far = &walk.scene->Call(Purpose::kCheckIn);
  walk.far->Transmit(ToFrame(CheckIn{3, 4, Shape::kTree, 2, 10'000, {}, FakeRank(3)}));
}

// Rank 2 of 4, which carries the records of the second root to the first.
void BelowTwoRoots(Walk& walk) {
  MemberConfig config = Config(2, 4);
  config.roots.push_back({kCredentials, {Address::Ipv4(10, 255, 1, 1, 1)}});
  walk.scene = std::make_unique<Scene>(config);
  walk.far = &walk.scene->Answer(Address::Ipv4(10, 255, 1, 1, 1));
}

// Rank 1 of 4 in a binary tree: parent 0, child 2, peer 3.
void InTree(Walk& walk) {
  walk.scene = std::make_unique<Scene>(Config(1, 4));
  Scene& scene = *walk.scene;
  std::map<MemberLine, FarEnd*> lines;
  if (AtLeast(walk, MemberState::kCheckedIn)) lines[MemberLine::kRoot] = &scene.CheckIn(0);
  const bool called = AtLeast(walk, MemberState::kConnecting) || walk.line == MemberLine::kParent;
  if (called && AtLeast(walk, MemberState::kCheckedIn))
    lines[MemberLine::kParent] = &scene.CallAs(0, Purpose::kTree);
  if (AtLeast(walk, MemberState::kConnecting)) {
    lines[MemberLine::kParent]->Transmit(FrameType::kRoster, RosterOf(4).bytes().bytes);
    lines[MemberLine::kChild] = &scene.Answer(FakeRank(2).addresses[0]);
  }
  if (AtLeast(walk, MemberState::kReported)) {
    lines[MemberLine::kChild]->Transmit(FrameType::kReady);
    if (walk.line == MemberLine::kPeerIn)
      lines[MemberLine::kPeerIn] = &scene.CallAs(3, Purpose::kPeer);
  }
  if (AtLeast(walk, MemberState::kStanding)) {
    lines[MemberLine::kParent]->Transmit(FrameType::kGo);
    scene.member.Post(Rank{3}, 1, Bytes(1), scene.driver.now);
    scene.driver.Drain();
    if (walk.line == MemberLine::kPeerOut)
      lines[MemberLine::kPeerOut] = &scene.Answer(FakeRank(3).addresses[0]);
  }
  walk.far = walk.line == MemberLine::kCaller ? CallerOf(walk) : lines[walk.line];
}

Bytes BlockOf(std::uint32_t origin) {
  Writer out;
  Encode(out.U64(kWorld), GatherHeader{1, false, 0});
  Encode(out.U32(origin), FakeRank(origin));
  return out.Take();
}

// Rank 1 of 3; rank 1 of 2 if the next rank must also be the previous one.
void WalkIntoRing(Walk& walk) {
  const bool of_two = walk.state == MemberState::kCheckedIn && walk.line == MemberLine::kNext &&
                      walk.type == FrameType::kBlock;
  const std::uint32_t next = of_two ? 0 : 2;
  walk.scene = std::make_unique<Scene>(Config(1, of_two ? 2 : 3, Shape::kRing));
  Scene& scene = *walk.scene;
  std::map<MemberLine, FarEnd*> lines;
  if (AtLeast(walk, MemberState::kCheckedIn)) lines[MemberLine::kRoot] = &scene.CheckIn();
  const bool joined = AtLeast(walk, MemberState::kReported) || walk.line == MemberLine::kNext ||
                      walk.line == MemberLine::kPrevious;
  if (joined && AtLeast(walk, MemberState::kCheckedIn)) {
    lines[MemberLine::kRoot]->Transmit(FrameType::kNeighbour, RecordOf(FakeRank(next)));
    lines[MemberLine::kNext] = &scene.Answer(FakeRank(next).addresses[0]);
    lines[MemberLine::kPrevious] = &scene.CallAs(0, Purpose::kRing);
  }
  if (AtLeast(walk, MemberState::kReported)) {
    for (const std::uint32_t origin : {0u, 2u})
      lines[MemberLine::kPrevious]->Transmit(FrameType::kBlock, BlockOf(origin));
    if (walk.line == MemberLine::kPeerIn)
      lines[MemberLine::kPeerIn] = &scene.CallAs(2, Purpose::kPeer);
  }
  if (AtLeast(walk, MemberState::kStanding)) lines[MemberLine::kRoot]->Transmit(FrameType::kDone);
  walk.far = walk.line == MemberLine::kCaller ? CallerOf(walk) : lines[walk.line];
}

void SetUp(Walk& walk) {
  const bool early = walk.state <= MemberState::kCheckedIn;
  if (walk.shape == Shape::kRing) return WalkIntoRing(walk);
  if (walk.line == MemberLine::kNodeLeader) return BelowNodeLeader(walk);
  if (walk.line == MemberLine::kChild && early) return AboveLocalRank(walk);
  if (walk.line == MemberLine::kRoot && walk.state == MemberState::kCheckedIn &&
      walk.type == FrameType::kSection)
    return BelowTwoRoots(walk);
  InTree(walk);
}

// A valid frame for its connection.
Bytes Valid(const Walk& walk) {
  const bool of_root = walk.line == MemberLine::kRoot;
  switch (walk.type) {
    case FrameType::kCheckIn: return ToFrame(CheckIn{3, 4, walk.shape, 2, 10'000, {}, FakeRank(3)});
    case FrameType::kIdentify:
      return ToFrame(Identify{AtLeast(walk, MemberState::kReported) ? 2u : 0u, {1, 2}});
    case FrameType::kWelcome: return ToFrame(Welcome{"roothost", 5, 0});
    case FrameType::kReject: return FrameWith(walk.type, FailurePayload());
    case FrameType::kNeighbour: return FrameWith(walk.type, RecordOf(FakeRank(2)));
    case FrameType::kSection: return FrameWith(walk.type, RosterOf(2, false, 2).bytes().bytes);
    case FrameType::kRoster: {
      const Roster roster = RosterOf(4, walk.line == MemberLine::kNodeLeader);
      // The root's roster is incomplete, because this rank is not the top.
      return FrameWith(walk.type,
                       roster.bytes().bytes.first(of_root ? 10 : roster.bytes().bytes.size()));
    }
    case FrameType::kNodeLeader: {
      Writer two;
      return FrameWith(walk.type, two.U32(2).view());
    }
    case FrameType::kFailure: return FrameWith(walk.type, OfGroup(FailurePayload(), kOtherGroup));
    case FrameType::kBlock:
      if (walk.state == MemberState::kCheckedIn) return FrameWith(walk.type, BlockOf(0));
      [[fallthrough]];
    case FrameType::kGather:
    case FrameType::kTable:
    case FrameType::kMessage:
    case FrameType::kLeave:
    case FrameType::kAsk:
    case FrameType::kAnswer:
    case FrameType::kForm: return FrameWith(walk.type, OfGroup({}, kOtherGroup));
    default: return FrameWith(walk.type, {});
  }
}

bool Refused(const Walk& walk) {
  const Scene& scene = *walk.scene;
  if (walk.line == MemberLine::kCaller)
    return std::ranges::any_of(scene.driver.notes, [](const std::string& note) {
      return note.find("turned away") != std::string::npos;
    });
  if (walk.state == MemberState::kStanding) return walk.far->hung_up();
  return scene.Why().find("unexpected frame") != std::string::npos;
}

void ExpectNoEffectOfASecond(Walk& walk) {
  // The root's roster is incomplete, so a second piece differs from the first one.
  if (walk.type == FrameType::kRoster && walk.line == MemberLine::kRoot) return;
  const MemberState first = walk.scene->member.state();
  walk.far->Transmit(Valid(walk));
  EXPECT_FALSE(Refused(walk)) << "the same frame a second time";
  EXPECT_FALSE(walk.scene->member.failure()) << walk.scene->Why();
  EXPECT_EQ(walk.scene->member.state(), first);
}

// Returns true if such a connection exists in such a state.
bool TakeStep(Walk walk, std::set<const MemberRule*>& seen) {
  SetUp(walk);
  if (!walk.far) return false;
  SCOPED_TRACE(testing::Message() << "state " << int(walk.state) << " line " << int(walk.line)
                                  << " frame " << int(walk.type) << " shape " << int(walk.shape));
  EXPECT_EQ(walk.scene->member.state(), walk.state);
  EXPECT_FALSE(Refused(walk)) << "before it has said anything";
  walk.far->Transmit(Valid(walk));
  const MemberRule* const rule =
      RuleFor(MemberRules(), walk.state, walk.line, walk.type, walk.shape);
  const bool caller = walk.line == MemberLine::kCaller;
  const bool late =
      !caller && !rule && IsLate(MemberRules(), walk.state, walk.line, walk.type, walk.shape);
  EXPECT_EQ(Refused(walk), rule == nullptr && !late) << walk.scene->Why();
  seen.insert(rule);
  const bool stays = caller || late || walk.state == MemberState::kStanding;
  const SetOf<MemberState> next = rule    ? rule->next
                                  : stays ? SetOf<MemberState>{walk.state}
                                          : SetOf<MemberState>{MemberState::kOver};
  EXPECT_TRUE(next.contains(walk.scene->member.state()))
      << "it is in " << int(walk.scene->member.state()) << ": " << walk.scene->Why();
  if (rule && !caller && !walk.scene->member.failure()) ExpectNoEffectOfASecond(walk);
  return true;
}

TEST(States, AMemberHandlesEachFrameInEachStateAsTheTableStates) {
  std::map<MemberState, int> steps;
  std::set<const MemberRule*> seen;
  for (const Shape shape : {Shape::kTree, Shape::kRing})
    for (int state = 0; state < int(MemberState::kOver); ++state) {
      // A rank in a ring does not wait for ranks below.
      if (shape == Shape::kRing && MemberState(state) == MemberState::kConnecting) continue;
      for (std::uint8_t line = 0; line < kLines; ++line)
        for (std::uint8_t type = 1; type <= kFrameTypes + 1; ++type)
          if (TakeStep({MemberState(state), MemberLine(line), FrameType(type), shape}, seen))
            ++steps[MemberState(state)];
    }
  for (const MemberRule& rule : MemberRules())
    EXPECT_TRUE(seen.contains(&rule)) << "rule " << &rule - MemberRules().data();
  constexpr int kTypes = kFrameTypes + 1;
  EXPECT_EQ(steps[MemberState::kCalling], (2 + 1) * kTypes) << "a caller, and a local rank";
  EXPECT_EQ(steps[MemberState::kCheckedIn], (5 + 4) * kTypes);
  EXPECT_EQ(steps[MemberState::kConnecting], 4 * kTypes);
  EXPECT_EQ(steps[MemberState::kReported], (5 + 5) * kTypes);
  EXPECT_EQ(steps[MemberState::kStanding], (6 + 5) * kTypes);
}

TEST(States, AFrameHasAtMostASingleRule) {
  for (const Shape shape : {Shape::kTree, Shape::kRing})
    for (int state = 0; state <= int(MemberState::kOver); ++state)
      for (std::uint8_t line = 0; line < kLines; ++line)
        for (std::uint8_t type = 1; type <= kFrameTypes; ++type) {
          int named = 0;
          for (const MemberRule& rule : MemberRules())
            named += rule.in.contains(MemberState(state)) && rule.from.contains(MemberLine(line)) &&
                     rule.frames.contains(FrameType(type)) && rule.shapes.contains(shape);
          EXPECT_LE(named, 1) << "state " << state << " line " << int(line) << " frame "
                              << int(type);
        }
}

}  // namespace
}  // namespace ringlet::bootstrap
