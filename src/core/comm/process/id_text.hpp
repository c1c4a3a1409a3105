// How the front ends write and read unique ids as text, which see comm and not rendezvous.
#pragma once
#include "rendezvous/invitation.hpp"

namespace ringlet::comm {

using rendezvous::FromText;
using rendezvous::ToText;

}  // namespace ringlet::comm
