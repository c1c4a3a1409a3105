// SharedBuffers: user memory of a rank that its peers on the host can access without a copy, and
// the peers' memory that this rank has mapped.
//
// The unit is an allocation: one sealed memfd (os::Shm). The user registers any parts of it. The
// owner publishes in its part of the arena how to open the memfd through the kernel (process,
// descriptor and file identity). A peer opens the memfd when an operation first needs it. The owner
// takes no part in that and may be waiting meanwhile. If a peer fails to open a buffer, it does not
// use the buffer and does not try again.
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

/// A position in memory that a rank has registered. Outside input if a peer sent it.
struct BufferPlace {
  /// 1 + the index in ArenaRank::buffers, plus 128 times the generation. 0 means no position.
  std::uint32_t name = 0;
  std::uint64_t offset = 0;

  static constexpr int kNameBits = 27, kOffsetBits = 36;
  /// Packs the position into kNameBits + kOffsetBits bits. Empty if the offset is too large.
  std::optional<std::uint64_t> Packed() const;
  /// \param packed  any value; the highest bit is ignored
  static BufferPlace Unpack(std::uint64_t packed);
};

class SharedBuffers {
 public:
  using Handle = std::uint64_t;

  // ---- Memory of this rank. Callable from any thread. ----

  /// Registering the same memory again returns the same handle. The caller must deregister the
  /// handle equally often.
  /// \param memory      inside `allocation`, unless that is null
  /// \param allocation  the memory that peers can map, kept until Deregister. Null if they cannot
  ///                    map it; operations then copy.
  Result<Handle> Register(View memory, std::shared_ptr<const os::Shm> allocation);
  /// Errors  kInvalidArgument  the handle is unknown or already deregistered
  Status Deregister(Handle handle);

  /// Publishes the registered memory to the peers. Call once.
  void Publish(std::shared_ptr<Arena> arena, std::uint32_t self);

  /// Returns the position at which peers find the `bytes` bytes at `at`, which may lie anywhere in
  /// an allocation that is at least partly registered.
  std::optional<BufferPlace> Find(const std::byte* at, std::size_t bytes) const;

  // ---- Memory of the peers. Only the rank's thread calls these functions. ----

  /// Returns `bytes` bytes of memory of `peer` at `place`, or null if this rank cannot map them.
  /// The first call maps the memory. It stays mapped until the peer deregisters it.
  std::byte* Reach(std::uint32_t peer, const BufferPlace& place, std::size_t bytes);

  /// Sets, by rank, the processes to read memory from, with their signs. Get returns false before
  /// this call.
  void SetProcesses(std::vector<os::KnownProcess> processes);
  /// Returns true if this rank can read memory of `peer`. The first call for a peer reads its sign;
  /// if that fails, no later read is possible. Cost  a load; the first time a system call
  bool VerifyProcess(std::uint32_t peer);
  /// Reads unregistered memory of `peer`. Returns false if any part of it is unreadable.
  bool Get(std::uint32_t peer, RemoteAddress address, std::span<std::byte> to) const;
  /// Writes unregistered memory of `peer`. Returns false if any part of it is not writable.
  bool Put(std::uint32_t peer, RemoteAddress address, View from) const;

 private:
  struct Registered {
    View memory;
    std::shared_ptr<const os::Shm> allocation;
    std::uint64_t times = 1;
  };
  /// An entry of ArenaRank::buffers. Its allocation is registered `uses` times.
  struct RegisteredSlot {
    std::shared_ptr<const os::Shm> allocation;
    std::uint32_t uses = 0;
    std::uint32_t generation = 0;
  };
  struct Mapped {
    std::uint32_t generation = 0;
    std::optional<os::Shm> memory;  // empty if mapping failed
  };
  void Use(const std::shared_ptr<const os::Shm>& allocation);
  void Release(const os::Shm& allocation);
  void Show(std::size_t slot);
  std::optional<os::Shm> Map(std::uint32_t peer, std::size_t slot, std::uint32_t generation) const;

  mutable std::mutex mutex_;  // protects the members below, up to `arena_`
  std::map<Handle, Registered> registered_;
  Handle last_ = 0;
  std::array<RegisteredSlot, ArenaRank::kBuffers> slots_;
  std::atomic<std::uint32_t> slots_used_{0};  // written under `mutex_`; 0 for most ranks
  std::shared_ptr<Arena> arena_;
  std::uint32_t self_ = 0;

  using MappedOfPeer = std::array<Mapped, ArenaRank::kBuffers>;
  std::vector<std::unique_ptr<MappedOfPeer>> mapped_;  // by rank; null: none of its memory
  struct PeerProcess {
    os::KnownProcess process;  // without a pid if it cannot be read
    bool is_verified = false;
  };
  std::vector<PeerProcess> processes_;
};

/// State that lets the receiver of a message on a memory link fetch it. All memory links of a rank
/// share it. It is set before the first message.
struct RtsParts {
  std::shared_ptr<SharedBuffers> registered = {};  ///< null if the rank maps no peer memory
  RtsSizes sizes = {};
};

}  // namespace ringlet::transport
