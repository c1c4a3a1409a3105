// Memory of a rank's user that its peers on the host may work on without a copy, and that of the
// peers which this rank has mapped.
//
// The unit is an allocation: one sealed memfd (os::Shm), of which the user registers any parts. The
// owner writes into its part of the arena where the kernel keeps it open (process, descriptor, and
// the file's identity); a peer opens that when an operation first needs it. The owner has no part
// in that, so it may happen while it waits. Buffers that cannot be opened are not used, and not
// tried again.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/value/bytes.hpp"
#include "os/fs/shm.hpp"
#include "os/process/process_memory.hpp"
#include "transport/arena/arena.hpp"
#include "transport/link/link.hpp"

namespace ringlet::transport {

/// The place of memory within what a rank has registered. Outside input when it comes from a peer.
struct BufferPlace {
  /// 1 + its number in ArenaRank::buffers, and 128 times its generation; 0: nowhere.
  std::uint32_t name = 0;
  std::uint64_t offset = 0;

  static constexpr int kNameBits = 27, kOffsetBits = 36;
  /// In kNameBits + kOffsetBits. Empty: it lies too far in its allocation for that.
  std::optional<std::uint64_t> Packed() const;
  /// \param packed  of any value; its highest bit does not count
  static BufferPlace Unpack(std::uint64_t packed);
};

class SharedBuffers {
 public:
  using Handle = std::uint64_t;

  // ---- Of this rank's memory. Any thread. ----

  /// \param memory  where it lies, in `allocation` if there is one
  /// \param allocation the memory that peers can map; null: they cannot, and operations copy as
  /// before. Kept
  ///                    until Deregister.
  /// The same memory again gives the same handle, which is then to be given back as often.
  Result<Handle> Register(View memory, std::shared_ptr<const os::Shm> allocation);
  /// Errors  kInvalidArgument  no such handle, or not any more
  Status Deregister(Handle handle);

  /// From now on peers see it. Once.
  void Publish(std::shared_ptr<Arena> arena, std::uint32_t self);

  /// The place at which peers find `bytes` at `at`: anywhere in an allocation of which a part is
  /// registered.
  std::optional<BufferPlace> Find(const std::byte* at, std::size_t bytes) const;

  // ---- Of the peers'. The rank's thread. ----

  /// `bytes` of `peer` at `place`, mapped at the first call, until the peer has taken it back.
  /// Null: this rank cannot reach it.
  std::byte* Reach(std::uint32_t peer, const BufferPlace& place, std::size_t bytes);

  /// By rank the process whose memory may be read. Before the first Fetch, which else gives false.
  void KnowProcesses(std::vector<os::KnownProcess> processes) { processes_ = std::move(processes); }
  bool CanGet(std::uint32_t peer) const {
    return peer < processes_.size() && processes_[peer].pid != 0;
  }
  /// Reads memory that is not registered, where it is. False: it cannot be read, or not whole.
  bool Get(std::uint32_t peer, RemoteAddress address, std::span<std::byte> to) const;

 private:
  struct Registered {
    View memory;
    std::shared_ptr<const os::Shm> allocation;
    std::uint64_t times = 1;
  };
  /// A place in ArenaRank::buffers, of an allocation that is registered `uses` times.
  struct RegisteredSlot {
    std::shared_ptr<const os::Shm> allocation;
    std::uint32_t uses = 0;
    std::uint32_t generation = 0;
  };
  struct Mapped {
    std::uint32_t generation = 0;
    std::optional<os::Shm> memory;  // empty: it could not be mapped
  };
  void Use(const std::shared_ptr<const os::Shm>& allocation);
  void Release(const os::Shm& allocation);
  void Show(std::size_t slot);
  std::optional<os::Shm> Map(std::uint32_t peer, std::size_t slot, std::uint32_t generation) const;

  mutable std::mutex mutex_;  // of what follows, up to `arena_`
  std::map<Handle, Registered> registered_;
  Handle last_ = 0;
  std::array<RegisteredSlot, ArenaRank::kBuffers> slots_;
  std::atomic<std::uint32_t> slots_used_{0};  // written under `mutex_`; most have none
  std::shared_ptr<Arena> arena_;
  std::uint32_t self_ = 0;

  std::vector<std::array<Mapped, ArenaRank::kBuffers>> mapped_;  // of each rank
  std::vector<os::KnownProcess> processes_;
};

/// The parts with which links through memory let the receiver fetch a message. All such links of a
/// rank share them. They are set before the first message.
struct RtsParts {
  std::shared_ptr<SharedBuffers> registered = {};  ///< null: no memory of peers is mapped
  RtsSizes sizes = {};
};

}  // namespace ringlet::transport
