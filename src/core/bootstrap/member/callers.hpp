// Assigns a place to each caller of a member.
#pragma once
#include "bootstrap/member/joining.hpp"

namespace ringlet::bootstrap {

/// Assigns a place to an authenticated caller by its first frame, or turns it away.
/// \param fits     the present state accepts the frame
/// \param joining  null in other states
void Admit(const Acceptor::FirstFrame& caller, bool fits, MemberState state, JoiningMember* joining,
           MemberCommon& common);

}  // namespace ringlet::bootstrap
