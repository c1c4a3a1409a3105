#include "bootstrap/states.hpp"

namespace ringlet::bootstrap {
namespace {

using F = FrameType;
using R = RootState;
using M = MemberState;
using L = MemberLine;

constexpr SetOf<Shape> kTree = {Shape::kTree};
constexpr SetOf<Shape> kRing = {Shape::kRing};
constexpr SetOf<RootLine> kCaller = {RootLine::kCaller};
constexpr SetOf<RootLine> kMember = {RootLine::kMember};

// Each row: states, connections and frames, then the states that may follow.
constexpr RootRule kRootRules[] = {
    {{R::kEmpty}, kCaller, {F::kCheckIn}, {R::kEmpty, R::kGathering, R::kConnecting}},
    {{R::kGathering},
     kCaller,
     {F::kCheckIn},
     {R::kGathering, R::kConnecting, R::kRefusing, R::kFinished}},
    {{R::kConnecting}, kCaller, {F::kCheckIn}, {R::kConnecting}},
    {{R::kClosing}, kCaller, {F::kCheckIn}, {R::kClosing}},
    {{R::kRefusing}, kCaller, {F::kCheckIn}, {R::kRefusing, R::kFinished}},
    {{R::kGathering}, kMember, {F::kBeat}, {R::kGathering}},
    {{R::kGathering},
     kMember,
     {F::kLocalRank, F::kSection},
     {R::kGathering, R::kConnecting, R::kRefusing, R::kFinished}},
    {{R::kGathering, R::kConnecting}, kMember, {F::kFailure}, {R::kRefusing, R::kFinished}},
    {{R::kConnecting}, kMember, {F::kBeat}, {R::kConnecting}},
    // A rank that has already checked in, unknown to its node leader.
    {{R::kConnecting}, kMember, {F::kLocalRank}, {R::kRefusing, R::kFinished}},
    {{R::kConnecting}, kMember, {F::kReady}, {R::kConnecting, R::kClosing, R::kFinished}},
    // The job is complete, so a failure no longer concerns the root.
    {{R::kClosing}, kMember, {F::kBeat, F::kReady, F::kFailure}, {R::kClosing}},
};

constexpr SetOf<L> kAnyMember = {L::kNodeLeader, L::kParent, L::kChild,  L::kNext,
                                 L::kPrevious,   L::kPeerIn, L::kPeerOut};
constexpr SetOf<L> kUpper = {L::kNodeLeader, L::kParent};
constexpr SetOf<F> kOfGroups = {F::kGather, F::kTable, F::kBlock,  F::kMessage,
                                F::kLeave,  F::kAsk,   F::kAnswer, F::kForm};  // except kFailure

constexpr MemberRule kMemberRules[] = {
    // callers: the ranks of this host that it checks in, the parent, the previous rank
    {{M::kCalling}, {L::kCaller}, {F::kCheckIn}, {M::kCalling}},
    {{M::kCheckedIn}, {L::kCaller}, {F::kCheckIn, F::kIdentify}, {M::kCheckedIn}},
    {{M::kConnecting}, {L::kCaller}, {F::kCheckIn}, {M::kConnecting}},
    {{M::kReported}, {L::kCaller}, {F::kCheckIn, F::kIdentify}, {M::kReported}},
    {{M::kStanding}, {L::kCaller}, {F::kCheckIn, F::kIdentify}, {M::kStanding}},
    // the root
    {{M::kCheckedIn}, {L::kRoot}, {F::kBeat, F::kWelcome}, {M::kCheckedIn}},
    {{M::kCheckedIn, M::kConnecting, M::kReported}, {L::kRoot}, {F::kReject}, {M::kOver}},
    {{M::kCheckedIn},
     {L::kRoot},
     {F::kRoster},
     {M::kCheckedIn, M::kConnecting, M::kStanding, M::kOver},
     kTree},
    {{M::kCheckedIn}, {L::kRoot}, {F::kSection}, {M::kCheckedIn}, kTree},
    {{M::kCheckedIn}, {L::kRoot}, {F::kNeighbour}, {M::kCheckedIn, M::kReported, M::kOver}, kRing},
    {{M::kConnecting}, {L::kRoot}, {F::kBeat, F::kWelcome, F::kDone}, {M::kConnecting}},
    {{M::kReported}, {L::kRoot}, {F::kBeat, F::kWelcome}, {M::kReported}},
    {{M::kReported}, {L::kRoot}, {F::kDone}, {M::kReported}, kTree},
    {{M::kReported}, {L::kRoot}, {F::kDone}, {M::kStanding}, kRing},
    // A member that knows that all are connected does not need the root and ignores late frames.
    {{M::kStanding},
     {L::kRoot},
     {F::kBeat, F::kWelcome, F::kReject, F::kRoster, F::kSection, F::kNeighbour, F::kDone},
     {M::kStanding}},
    // the node leader, or the parent
    {{M::kCheckedIn}, {L::kNodeLeader}, {F::kNodeLeader, F::kWelcome}, {M::kCheckedIn}, kTree},
    {{M::kCheckedIn}, {L::kNodeLeader}, {F::kReject}, {M::kOver}, kTree},
    {{M::kCheckedIn},
     kUpper,
     {F::kRoster},
     {M::kCheckedIn, M::kConnecting, M::kReported, M::kOver},
     kTree},
    {{M::kConnecting}, {L::kParent}, {F::kWelcome}, {M::kConnecting}, kTree},
    {{M::kReported}, {L::kParent}, {F::kWelcome}, {M::kReported}, kTree},
    {{M::kReported}, {L::kParent}, {F::kGo}, {M::kStanding}, kTree},
    // the children
    {{M::kConnecting},
     {L::kChild},
     {F::kReady},
     {M::kConnecting, M::kReported, M::kStanding},
     kTree},
    // all connections to members
    {{M::kCalling}, kAnyMember, {F::kBeat}, {M::kCalling}},
    {{M::kCheckedIn}, kAnyMember, {F::kBeat}, {M::kCheckedIn}},
    {{M::kConnecting}, kAnyMember, {F::kBeat}, {M::kConnecting}},
    {{M::kReported}, kAnyMember, {F::kBeat}, {M::kReported}},
    {{M::kStanding}, kAnyMember, {F::kBeat}, {M::kStanding}},
    {{M::kCalling, M::kCheckedIn, M::kConnecting, M::kReported},
     kAnyMember,
     {F::kFailure},
     {M::kOver}},
    // Among two ranks the next rank is also the previous one, and uses the first connection.
    {{M::kCheckedIn},
     {L::kPrevious, L::kNext},
     {F::kBlock},
     {M::kCheckedIn, M::kReported, M::kOver},
     kRing},
    // Other ranks may be standing already, and use groups.
    {{M::kReported}, kAnyMember, kOfGroups, {M::kReported}},
    {{M::kStanding}, kAnyMember, kOfGroups, {M::kStanding}},
    {{M::kStanding}, kAnyMember, {F::kFailure}, {M::kStanding}},
};

}  // namespace

std::span<const RootRule> RootRules() {
  return kRootRules;
}

std::span<const MemberRule> MemberRules() {
  return kMemberRules;
}

SetOf<MemberLine> KindsSoFar(MemberLine line) {
  switch (line) {
    case L::kParent: return {L::kCaller, L::kNodeLeader, L::kParent};
    case L::kChild: return {L::kCaller, L::kChild};
    case L::kPrevious: return {L::kCaller, L::kPrevious};
    case L::kPeerIn: return {L::kCaller, L::kPeerIn};
    case L::kCaller:
    case L::kRoot:
    case L::kNodeLeader:
    case L::kNext:
    case L::kPeerOut: break;
  }
  return {line};
}

SetOf<RootLine> KindsSoFar(RootLine line) {
  if (line == RootLine::kMember) return {RootLine::kCaller, RootLine::kMember};
  return {line};
}

}  // namespace ringlet::bootstrap
