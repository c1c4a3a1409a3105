// A rank's endpoint in a fabric that carries tagged messages between any of them, reliably and in
// order: what a link needs of libfabric, and no more. Tests have one of memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"
#include "transport/link/doorbell_waiter.hpp"

namespace ringlet::transport::ofi {

/// A buffer, and what becomes of the one message that it holds or waits for. While `pending` it
/// belongs to the fabric and neither moves nor goes.
struct Slot {
  std::array<void*, 8> for_provider = {};  // first: what a provider is given to know the slot by
  std::span<std::byte> buffer = {};
  void* registration = nullptr;  ///< of the buffer; where the provider wants none, null
  bool pending = false;
  std::size_t bytes = 0;     ///< of the message, once not pending
  std::string failure = {};  ///< empty: none
};

/// Memory that the provider may read and write. Goes before its fabric, and after its slots.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;
  virtual std::span<std::byte> bytes() = 0;
  virtual void* registration() const = 0;
};

/// Belongs to the thread of its rank, as the links over it do. Makes progress only when called.
class Fabric : public NewsSource {
 public:
  using PeerAddress = std::uint64_t;

  virtual const std::string& provider() const = 0;
  virtual View name() const = 0;  ///< the address by which peers reach this endpoint
  /// Bits of a tag that the provider compares, from the lowest.
  virtual std::uint64_t tag_mask() const = 0;

  /// \param name  of a peer's endpoint of the same provider; outside input
  virtual Result<PeerAddress> Reach(View name) = 0;
  virtual Result<std::shared_ptr<Memory>> Allocate(std::size_t bytes) = 0;

  /// Sends the first `bytes` of the slot's buffer. False: not now.
  /// Errors  kPeerLost  with the provider's words, without the peer's name
  virtual Result<bool> Send(PeerAddress to, std::uint64_t tag, Slot& slot, std::size_t bytes) = 0;
  /// Has the slot wait for one message of that tag. Slots of a tag are filled in the order in which
  /// they wait. False: not now.
  virtual Result<bool> Receive(std::uint64_t tag, Slot& slot) = 0;

  /// Moves what can be moved, and settles slots. How many; 0: nothing happened.
  virtual std::size_t Progress() = 0;
  /// Slots that were settled with a failure, so that who sees no new one need not look for it.
  std::uint64_t failures() const { return failures_; }

  /// Keeps what slots of a link that has gone still point into, until the endpoint is closed.
  void Retire(std::shared_ptr<void> memory) { retired_.push_back(std::move(memory)); }
  /// Until when links that end now may wait for their last words to leave: the same for all.
  Instant LeaveBy(Instant now);

 protected:
  std::vector<std::shared_ptr<void>> retired_;
  std::uint64_t failures_ = 0;

 private:
  std::optional<Instant> leave_by_;
};

}  // namespace ringlet::transport::ofi
