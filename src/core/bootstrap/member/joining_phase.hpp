// The progress of a joining member, as a phrase for messages.
#pragma once
#include <string>

#include "bootstrap/member/root_calls.hpp"

namespace ringlet::bootstrap {

/// The phrase until the member has checked in.
std::string CallingPhase(const MemberCommon& common);
/// The phrase after the roster has arrived.
std::string ConnectingPhase(const MemberCommon& common, const RootCalls& roots);

}  // namespace ringlet::bootstrap
