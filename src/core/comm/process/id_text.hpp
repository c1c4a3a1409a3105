// Converts unique ids to and from text for the front ends, which include comm and not rendezvous.
#pragma once
#include "rendezvous/invitation.hpp"

namespace ringlet::comm {

using rendezvous::FromText;
using rendezvous::ToText;

}  // namespace ringlet::comm
