// Fabric: a rank's endpoint in a network that carries tagged messages reliably and in order. It is
// the part of libfabric that a link needs. Tests use a fabric in memory.
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

/// A buffer and the state of the one message that it holds or waits for. While `pending` is true,
/// the slot belongs to the fabric and must neither move nor be destroyed.
struct Slot {
  // First member, because its address identifies the slot to a provider.
  std::array<void*, 8> for_provider = {};
  std::span<std::byte> buffer = {};
  void* registration = nullptr;  ///< of the buffer; null if the provider needs none
  bool pending = false;
  std::size_t bytes = 0;     ///< of the message, if not pending
  std::string failure = {};  ///< empty unless the message failed
};

/// Memory that the provider may read and write. Destroyed after its slots and before its fabric.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;
  virtual std::span<std::byte> bytes() = 0;
  virtual void* registration() const = 0;
};

/// Belongs to the thread of its rank, like the links over it. Makes progress only when called.
class Fabric : public ProgressSource {
 public:
  using PeerAddress = std::uint64_t;

  virtual const std::string& provider() const = 0;
  virtual View name() const = 0;  ///< this endpoint's address, for peers
  /// The tag bits that the provider compares: the lowest ones.
  virtual std::uint64_t tag_mask() const = 0;

  /// \param name  of a peer's endpoint with the same provider; outside input
  virtual Result<PeerAddress> Reach(View name) = 0;
  virtual Result<std::shared_ptr<Memory>> Allocate(std::size_t bytes) = 0;

  /// Starts to send the first `bytes` bytes of the slot's buffer. Returns false if it cannot now.
  /// Errors  kPeerLost  with the provider's message, without the peer's name
  virtual Result<bool> Send(PeerAddress to, std::uint64_t tag, Slot& slot, std::size_t bytes) = 0;
  /// Makes the slot wait for one message with that tag. Messages fill the slots of a tag in the
  /// order of these calls. Returns false if it cannot now.
  virtual Result<bool> Receive(std::uint64_t tag, Slot& slot) = 0;

  /// Makes all possible progress and updates the slots. Returns the number of completed slots.
  virtual std::size_t Progress() = 0;
  /// Number of failed slots. While it is unchanged, callers need not search their slots.
  std::uint64_t failures() const { return failures_; }

  /// Keeps the memory that slots of a destroyed link point to until the endpoint is closed.
  void Retire(std::shared_ptr<void> memory) { retired_.push_back(std::move(memory)); }
  /// Returns the deadline, shared by all links, for outgoing data of links that end.
  Instant DrainDeadline(Instant now);

 protected:
  std::vector<std::shared_ptr<void>> retired_;
  std::uint64_t failures_ = 0;

 private:
  std::optional<Instant> leave_by_;
};

}  // namespace ringlet::transport::ofi
