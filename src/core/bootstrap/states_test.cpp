#include "bootstrap/states.hpp"

#include <set>

#include "bootstrap/difference.hpp"
#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

// ---- the root ---------------------------------------------------------------------------------

struct RootScene {
  static RootConfig ConfigOf() {
    RootConfig config;
    config.credentials = kCredentials;
    config.host = "roothost";
    config.silence_max = Instant(0);
    return config;
  }
  RootScene(RootState state, Shape with) : shape(with), root(ConfigOf()), driver(root) {
    if (state == RootState::kEmpty) return;
    member = &CheckIn(0);
    if (state == RootState::kRefusing) CheckIn(1, 5);
    if (state == RootState::kFinished) root.Abort("over");
    if (state == RootState::kConnecting || state == RootState::kClosing) {
      CheckIn(1);
      CheckIn(2);
    }
    if (state == RootState::kClosing) member->Transmit(FrameType::kReady);
  }
  FarEnd& Call() {
    Nonce nonce{};
    nonce[0] = static_cast<std::byte>(next_line);
    return far_ends.emplace_back(driver, next_line++, kCredentials, Purpose::kCheckIn, nonce);
  }
  bootstrap::CheckIn As(std::uint32_t rank, std::uint32_t size = 3) const {
    return {rank, size, shape, 8, 10'000, {}, FakeRank(rank)};
  }
  FarEnd& CheckIn(std::uint32_t rank, std::uint32_t size = 3) {
    FarEnd& far = Call();
    far.Transmit(ToFrame(As(rank, size)));
    return far;
  }
  Bytes Valid(FrameType type) const {
    if (type == FrameType::kCheckIn) return ToFrame(As(1));
    if (type == FrameType::kLocalRank)
      return ToFrame(
          LocalRankCheckIn{As(1), DifferenceOf(RecordOf(FakeRank(0)), RecordOf(FakeRank(1)))});
    if (type == FrameType::kSection) return FrameWith(type, RosterOf(2, false, 1).bytes().bytes);
    return FrameWith(type, type == FrameType::kFailure ? FailurePayload() : Bytes());
  }

  Shape shape;
  Root root;
  MachineDriver driver;
  LineId next_line = kFirstAcceptedLine;
  std::list<FarEnd> far_ends;
  FarEnd* member = nullptr;
};

/// Returns the rule that it has seen obeyed, or null.
const RootRule* WalkRoot(RootState state, RootLine line, FrameType type, Shape shape) {
  RootScene scene(state, shape);
  EXPECT_EQ(scene.root.state(), state);
  FarEnd* const far = line == RootLine::kCaller ? &scene.Call() : scene.member;
  if (!far || far->hung_up()) return nullptr;  // such a connection does not exist in this state
  SCOPED_TRACE(testing::Message() << "state " << int(state) << " line " << int(line) << " frame "
                                  << int(type) << " shape " << int(shape));
  far->Transmit(scene.Valid(type));
  const std::string why = far->TakeFailure(FrameType::kReject).text;
  const bool refused = why.find("an unexpected frame") != std::string::npos ||
                       why == "a member that does not check in";
  const RootRule* const rule = RuleFor(RootRules(), state, line, type, shape);
  const bool member = line == RootLine::kMember;
  const bool late = member && !rule && IsLate(RootRules(), state, line, type, shape);
  EXPECT_EQ(refused, rule == nullptr && !late) << why;
  const SetOf<RootState> broken = {RootState::kRefusing, RootState::kFinished};
  const SetOf<RootState> next = rule              ? rule->next
                                : member && !late ? broken
                                                  : SetOf<RootState>{state};
  EXPECT_TRUE(next.contains(scene.root.state())) << "it is in " << int(scene.root.state());
  // A node leader that checks in a rank twice reports a rank with two callers.
  if (rule && member && type != FrameType::kLocalRank && !broken.contains(scene.root.state())) {
    const RootState first = scene.root.state();
    far->Transmit(scene.Valid(type));
    EXPECT_EQ(scene.root.state(), first) << "the same frame a second time";
  }
  return rule;
}

TEST(States, TheRootHandlesEachFrameInEachStateAsTheTableStates) {
  std::set<const RootRule*> seen;
  for (const Shape shape : {Shape::kTree, Shape::kRing})
    for (int state = 0; state <= int(RootState::kFinished); ++state)
      for (const RootLine line : {RootLine::kCaller, RootLine::kMember})
        for (std::uint8_t type = 1; type <= kFrameTypes + 1; ++type) {
          const bool possible = shape == Shape::kTree || RootState(state) != RootState::kClosing;
          if (possible && RootState(state) != RootState::kFinished)
            seen.insert(WalkRoot(RootState(state), line, FrameType(type), shape));
        }
  for (const RootRule& rule : RootRules())
    EXPECT_TRUE(seen.contains(&rule)) << "rule " << &rule - RootRules().data();
}

TEST(States, AFinishedRootIgnoresCallers) {
  RootScene scene(RootState::kFinished, Shape::kTree);
  scene.driver.Deliver(Accepted{scene.next_line, {}});
  EXPECT_EQ(scene.root.state(), RootState::kFinished);
  EXPECT_TRUE(scene.driver.sent[scene.next_line].empty());
}

}  // namespace
}  // namespace ringlet::bootstrap
