// The system's random source: the only place where unforeseeable bytes come from.
#pragma once
#include "base/wire/handshake.hpp"

namespace ringlet::os {

/// 32 bytes that cannot be foretold: a communicator's secret, or the seed of a NonceSource.
/// Errors  kSystem  the kernel has no random source.
Result<Secret> SecureRandom();

}  // namespace ringlet::os
