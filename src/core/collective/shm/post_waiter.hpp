// PostWaiter: waiter of a rank for news of its arena. It publishes the awaited rank, so that posts
// of other ranks do not wake it.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "transport/arena/arena.hpp"
#include "transport/arena/bell_waiter.hpp"

namespace ringlet::collective {

/// The published rank holds from Prepare to Wait. If another one is awaited by then, Wait returns
/// at once. No wake-up is lost, because it is published before the owner is seen to poll or sleep.
///
/// A rank stores a post, then reads the bells (doorbell.hpp). That order costs each post a fence, a
/// tenth of a small operation. Ranks with cores seldom sleep. If all have cores, the sleeper issues
/// the fence instead, on all ranks, before its last check. A rank that read the bell before the
/// fence has posted by then, and the check sees the post.
class PostWaiter final : public transport::Waiter {
 public:
  /// \param rank     the part of the arena that the rank owns
  /// \param awaited  the rank with the awaited post; only the owner changes it
  PostWaiter(transport::ArenaRank& rank, const std::uint32_t& awaited)
      : bell_(rank.bell), said_(rank.awaits), awaited_(awaited) {}

  /// Makes the waiter fence all ranks before it sleeps; else each post has its own fence. Called by
  /// the owner while awake.
  /// \param fence  returns false if it failed
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
  // Not a rank, so Wait returns at once.
  static constexpr std::uint32_t kUnfenced = ~std::uint32_t{0};

  transport::BellWaiter bell_;
  std::atomic<std::uint32_t>& said_;
  const std::uint32_t& awaited_;
  bool (*fence_)() = nullptr;
  std::uint32_t says_ = 0;
};

}  // namespace ringlet::collective
