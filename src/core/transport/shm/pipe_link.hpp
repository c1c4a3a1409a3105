// A Link over two pipes. The owner of their memory tells inproc from shm.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "transport/arena/shared_buffers.hpp"
#include "transport/link/link.hpp"
#include "transport/link/pipe.hpp"

namespace ringlet::transport {

struct PipeLinkParts {
  Rank peer{};
  std::string peer_name;  ///< for errors, such as "rank 3 on host a (shm)"
  std::string_view kind;  ///< static storage
  PipeWriter out;
  PipeReader in;
  std::shared_ptr<void> memory;  ///< keeps alive what `out` and `in` point into
  /// Set by the waiter when the peer's process is known to be gone; empty within one process.
  std::shared_ptr<const std::atomic<bool>> gone = {};
  /// The process whose memory is fetched, if there is one.
  os::KnownProcess process = {};
  /// The memory that users have registered, of this rank and of the peer; null: nothing.
  std::shared_ptr<SharedBuffers> registered = {};
  /// Between threads of one process, else null: held while the peer reads what this rank offers,
  /// and while this rank reads what the peer does. In `memory`.
  std::mutex* own_offer = nullptr;
  std::mutex* peer_offer = nullptr;
  RtsSizes offers = {};
};

class PipeLink final : public Link {
 public:
  explicit PipeLink(PipeLinkParts parts) : parts_(std::move(parts)) {}
  /// Tells the peer, who may read on what was written.
  ~PipeLink() override;

  Result<std::size_t> Write(View data) override { return WriteBoth({}, data); }
  Result<std::size_t> WriteBoth(View head, View data) override;
  Result<std::size_t> Read(std::span<std::byte> out) override;
  Result<View> Peek() override;
  void Consume(std::size_t bytes) override { parts_.in.Consume(bytes); }
  Rank peer() const override { return parts_.peer; }
  bool in_memory() const override { return true; }
  std::string_view kind() const override { return parts_.kind; }

  bool fetches() const override { return true; }
  std::uint64_t SendRts(View data) override;
  Result<std::optional<bool>> TakeAck() override;
  void Withdraw() override;
  Result<bool> Get(std::uint64_t offer, std::size_t at, std::span<std::byte> to,
                   Copy copy) override;
  void SendAck(bool taken) override { parts_.in.SendAck(taken); }

 private:
  std::uint64_t Tell(View data);
  bool GetPiece(std::uint64_t offer, std::size_t at, std::span<std::byte> to, Copy copy);
  bool Gone() const { return parts_.gone && parts_.gone->load(std::memory_order_relaxed); }
  bool WriterLeft() const { return parts_.in.writer_closed() || Gone(); }
  Error Lost() const;
  Error Named(Error error) const;

  PipeLinkParts parts_;
  // Data that the peer told to be written it will not fetch the next time either.
  bool refuses_mapping_ = false, refuses_reading_ = false;
  bool told_mapping_ = false;    // the last offer is of registered memory
  std::optional<Error> broken_;  // sticky; what was read before it stays read
};

}  // namespace ringlet::transport
