// The callers of a member: which place each of them gets.
#pragma once
#include "bootstrap/member/joining.hpp"

namespace ringlet::bootstrap {

/// A caller that knows the secret has said its first frame: it gets its place, or is turned away.
/// \param fits     the frame is accepted in this state
/// \param joining  null in other states
void Admit(const Acceptor::FirstFrame& caller, bool fits, MemberState state, Joining* joining,
           MemberCommon& common);

}  // namespace ringlet::bootstrap
