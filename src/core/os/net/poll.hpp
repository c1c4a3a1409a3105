// Sleeping on several descriptors at once.
#pragma once
#include <chrono>
#include <span>

namespace ringlet::os {

/// Waits until one of `descriptors` is readable or has failed, or for `timeout`, or returns early
/// without reason (a signal): look again yourself. An empty list just waits.
///
/// \param timeout  rounded up to whole milliseconds; negative is 0
void PollReadable(std::span<const int> descriptors, std::chrono::nanoseconds timeout);

}  // namespace ringlet::os
