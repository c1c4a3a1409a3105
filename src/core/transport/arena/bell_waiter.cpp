#include "transport/arena/bell_waiter.hpp"

namespace ringlet::transport {

void BellWaiter::Wait(Ticket ticket, std::chrono::nanoseconds timeout) {
  // Woken or not, early or not: the caller looks again.
  if (doorbell_.LieDown(ticket, Doorbell::Sleep::kFutex)) doorbell_.SleepInFutex(ticket, timeout);
  doorbell_.Disarm();
}

void BellWaiter::Wake() {
  DoorbellButton(word_, -1).Ring();
}

}  // namespace ringlet::transport
