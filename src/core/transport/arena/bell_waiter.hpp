// Waiter of a rank for news in its arena: a futex on the rank's doorbell word there.
#pragma once
#include "transport/link/doorbell.hpp"
#include "transport/link/link.hpp"

namespace ringlet::transport {

/// Uses no descriptor, so a thread that serves several ranks must poll it from time to time.
class BellWaiter final : public Waiter {
 public:
  /// \param word  outlives the waiter
  explicit BellWaiter(DoorbellWord& word) : word_(word), doorbell_(word) {}

  Ticket Prepare() override { return doorbell_.Arm(); }
  void Wait(Ticket ticket, std::chrono::nanoseconds timeout) override;
  void Wake() override;
  bool in_memory() const override { return true; }
  int descriptor() const override { return -1; }
  void PrepareDescriptor() override {}
  void Acknowledge() override {}

 private:
  DoorbellWord& word_;
  Doorbell doorbell_;
};

}  // namespace ringlet::transport
