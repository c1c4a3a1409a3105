// The sleeping place of a rank for news of its arena, where it says whose post it waits for: posts
// of others let it sleep.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "transport/arena/arena.hpp"
#include "transport/arena/bell_waiter.hpp"

namespace ringlet::collective {

/// Its word is right from Prepare to Wait: if another post is waited for by then, Wait returns
/// at once. So no wake-up is lost: the word stands before the rank is seen to look or sleep.
///
/// A post is stored, then the bell is read (doorbell.hpp); that order costs each post a fence, a
/// tenth of a small operation. Ranks that have cores seldom sleep: if all have, the sleeper makes
/// the fence instead, on all of them, between its word and its last look. A rank that has read the
/// bell before that has posted by then, and the look sees it.
class PostWaiter final : public transport::Waiter {
 public:
  /// \param rank     the part of the arena that the rank owns
  /// \param awaited  the rank whose post is waited for; changed by the owner only
  PostWaiter(transport::ArenaRank& rank, const std::uint32_t& awaited)
      : bell_(rank.bell), said_(rank.awaits), awaited_(awaited) {}

  /// From here on it makes a fence for all ranks before it sleeps; else each post has its own. By
  /// the owner, who does not sleep. \param fence  makes it; false: it could not
  void set_fence(bool (*fence)()) { fence_ = fence; }
  bool fences() const { return fence_ != nullptr; }

  Ticket Prepare() override {
    says_ = transport::ArenaRank::Awaiting(awaited_);
    said_.store(says_, std::memory_order_seq_cst);
    const Ticket ticket = bell_.Prepare();
    if (fence_ != nullptr && !fence_()) says_ = kUnfenced;
    return ticket;
  }
  void Wait(Ticket ticket, std::chrono::nanoseconds timeout) override {
    const bool other = says_ != transport::ArenaRank::Awaiting(awaited_);
    bell_.Wait(ticket, other ? std::chrono::nanoseconds(0) : timeout);
  }
  void Wake() override { bell_.Wake(); }
  bool in_memory() const override { return true; }
  int descriptor() const override { return -1; }
  void PrepareDescriptor() override {}
  void Acknowledge() override {}

 private:
  // No rank: Wait then returns at once.
  static constexpr std::uint32_t kUnfenced = ~std::uint32_t{0};

  transport::BellWaiter bell_;
  std::atomic<std::uint32_t>& said_;
  const std::uint32_t& awaited_;
  bool (*fence_)() = nullptr;
  std::uint32_t says_ = 0;
};

}  // namespace ringlet::collective
