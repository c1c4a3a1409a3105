#include "transport/arena/bell_waiter.hpp"

namespace ringlet::transport {

void BellWaiter::Wait(Ticket ticket, std::chrono::nanoseconds timeout) {
  // The caller polls again after every return, so a spurious or early wake-up is harmless.
  if (doorbell_.PublishSleep(ticket, Doorbell::Sleep::kFutex))
    doorbell_.SleepInFutex(ticket, timeout);
  doorbell_.Disarm();
}

void BellWaiter::Wake() {
  DoorbellButton(word_, -1).Ring();
}

}  // namespace ringlet::transport
