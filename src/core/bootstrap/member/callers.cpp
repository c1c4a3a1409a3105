#include "bootstrap/member/callers.hpp"

#include <fmt/format.h>

namespace ringlet::bootstrap {
namespace {

void AdmitLocalRank(const Acceptor::FirstFrame& caller, JoiningMember* joining,
                    MemberCommon& common) {
  Acceptor& callers = common.connections.callers();
  auto check_in = ParseCheckIn(caller.frame.payload.bytes);
  if (!check_in.ok()) return callers.RejectCaller(caller.line, check_in.error().message);
  if (joining && joining->CanAcceptLocalRanks())
    return joining->OnLocalRank(caller.line, std::move(*check_in));
  callers.Dismiss(caller.line,
                  ToFrame(FrameType::kReject,
                          {Code::kInvalidArgument, check_in->rank,
                           fmt::format("{} has joined with this unique id already: make a new one "
                                       "for each communicator",
                                       common.Name(common.self()))}));
}

/// Returns kCaller if the caller cannot have a place here.
MemberLine PlaceOf(const Identify& identify, Purpose purpose, MemberState state,
                   const JoiningMember* joining, const MemberCommon& common) {
  const std::uint32_t size = common.config.size;
  const PlaceRange& subtree = identify.subtree;
  const bool leaves_place = subtree.count > 0 && subtree.count <= size;
  if (purpose == Purpose::kTree && joining && joining->CanAcceptParent() && leaves_place)
    return MemberLine::kParent;
  if (purpose == Purpose::kRing && !common.is_tree() &&
      identify.rank == (common.self() + size - 1) % size)
    return MemberLine::kPrevious;
  // A member calls as a peer only after it has received kGo. Our own kGo may still be on its way.
  if (purpose == Purpose::kPeer && state >= MemberState::kReported) return MemberLine::kPeerIn;
  return MemberLine::kCaller;
}

void AdmitMember(const Acceptor::FirstFrame& caller, MemberState state, JoiningMember* joining,
                 MemberCommon& common) {
  Acceptor& callers = common.connections.callers();
  const auto identify = ParseIdentify(caller.frame.payload.bytes);
  if (!identify.ok() || identify->rank >= common.config.size || identify->rank == common.self())
    return callers.RejectCaller(caller.line, "a connection that does not identify its rank");
  const MemberLine role = PlaceOf(*identify, caller.purpose, state, joining, common);
  const bool taken =
      role != MemberLine::kPeerIn && common.connections.LineOf(role, identify->rank) != 0;
  if (role == MemberLine::kCaller || taken)
    return callers.RejectCaller(
        caller.line,
        fmt::format("rank {} is not expected here, or is connected already", identify->rank));
  if (role == MemberLine::kParent) joining->AcceptParent(identify->subtree);
  common.connections.Adopt(caller.line, role, identify->rank, common.now);
}

}  // namespace

void Admit(const Acceptor::FirstFrame& caller, bool fits, MemberState state, JoiningMember* joining,
           MemberCommon& common) {
  const auto type = static_cast<FrameType>(caller.frame.type);
  if (fits && type == FrameType::kCheckIn && caller.purpose == Purpose::kCheckIn)
    return AdmitLocalRank(caller, joining, common);
  if (fits && type == FrameType::kIdentify) return AdmitMember(caller, state, joining, common);
  common.connections.callers().RejectCaller(caller.line,
                                            "a connection that does not identify its rank");
}

}  // namespace ringlet::bootstrap
