// How far a member that joins has come, as a phrase for messages.
#pragma once
#include <string>

#include "bootstrap/member/root_calls.hpp"

namespace ringlet::bootstrap {

/// Until it has checked in.
std::string CallingPhase(const MemberCommon& common);
/// From the roster on.
std::string ConnectingPhase(const MemberCommon& common, const RootCalls& roots);

}  // namespace ringlet::bootstrap
