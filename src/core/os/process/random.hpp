// The system's random source: the only source of unpredictable bytes.
#pragma once
#include "base/wire/handshake.hpp"

namespace ringlet::os {

/// 32 unpredictable bytes: a communicator's secret, or the seed of a NonceSource.
/// Errors  kSystem  the kernel lacks a random source.
Result<Secret> SecureRandom();

}  // namespace ringlet::os
