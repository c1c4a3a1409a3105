// Sleeps on several descriptors at once.
#pragma once
#include <chrono>
#include <span>

namespace ringlet::os {

/// Waits until one of `descriptors` is readable or has failed, or until `timeout`. A signal may end
/// the wait early, so the caller must check again. With an empty list it only waits.
///
/// \param timeout  rounded up to whole milliseconds; negative is 0
void PollReadable(std::span<const int> descriptors, std::chrono::nanoseconds timeout);

}  // namespace ringlet::os
