// The text of an errno value.
#pragma once
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// "connection refused (ECONNREFUSED 111)", lower case, without a full stop.
std::string ErrnoText(int error);

/// A kSystem error: `what` and the text of `error`, as in "cannot bind 10.0.0.5:7: address in use
/// ...".
Error SystemError(std::string what, int error);

}  // namespace ringlet::os
