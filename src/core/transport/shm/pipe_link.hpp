// PipeLink: a Link over two pipes. The owner of their memory distinguishes inproc from shm.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/value/race.hpp"
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
  std::shared_ptr<void> memory;  ///< keeps the memory of `out` and `in` alive
  /// Set by the waiter if the peer's process has exited. Empty within one process.
  std::shared_ptr<const std::atomic<bool>> gone = {};
  /// The process to fetch data from, if there is one.
  os::KnownProcess process = {};
  /// Memory that users of both ranks have registered. Null if they cannot register any.
  std::shared_ptr<SharedBuffers> registered = {};
  /// Locks in `memory` between threads of one process, else null. The peer holds `own_offer` while
  /// it reads this rank's offer. This rank holds `peer_offer` while it reads the peer's.
  std::mutex* own_offer = nullptr;
  std::mutex* peer_offer = nullptr;
  RtsSizes offers = {};
};

class PipeLink final : public Link {
 public:
  explicit PipeLink(PipeLinkParts parts);
  /// Closes the pipes. The peer may still read everything that was written.
  ~PipeLink() override;

  Result<std::size_t> Write(View data) override { return WriteBoth({}, data); }
  Result<std::size_t> WriteBoth(View head, View data) override;
  bool WriteWhole(View head, View data) override {
    return !broken_ && !parts_.out.reader_closed() && !IsPeerGone() &&
           parts_.out.WriteWhole(head, data);
  }
  WholeRead ReadWhole(View head, std::span<std::byte> data) override {
    return broken_ ? WholeRead::kOther : parts_.in.ReadWhole(head, data);
  }
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
                   CopyFunction copy) override;
  void SendAck(bool taken) override { parts_.in.SendAck(taken); }
  void BeginReceive() override;
  void EndReceive() override;

 private:
  // How data reaches the peer: copied through the pipe, copied past the caches, or read in place.
  enum class DataPath : std::uint32_t { kCopied, kStreamed, kRead };
  // A message whose time decides between the paths.
  struct TimedMessage {
    Race* race;
    std::size_t bytes;
    std::uint64_t begin;
    bool is_current = true;          // it is the last message that this rank sent
    std::uint64_t acknowledged = 0;  // when the answer to its offer was seen; 0: none yet
  };
  std::uint64_t OfferNumber(View data);
  DataPath ChoosePath(std::size_t bytes);
  void RecordTime();
  bool IsTimed() const { return parts_.own_offer == nullptr && parts_.offers.ticks != nullptr; }
  bool GetPiece(std::uint64_t offer, std::size_t at, std::span<std::byte> to, CopyFunction copy);
  bool IsPeerGone() const { return parts_.gone && parts_.gone->load(std::memory_order_relaxed); }
  bool WriterLeft() const { return parts_.in.writer_closed() || IsPeerGone(); }
  Error LostError() const;
  Error Named(Error error) const;

  PipeLinkParts parts_;
  // Set when the peer refuses an offer of that kind. It would refuse the next one, too.
  bool refuses_mapping_ = false, refuses_reading_ = false;
  bool told_mapping_ = false;  // the last offer is registered memory
  std::vector<Race> races_;    // by the number of bits of a size; empty before the first choice
  std::optional<TimedMessage> timed_;  // one at a time
  // Race of the last message that was not timed, because another one was. The next timed message
  // belongs to it.
  Race* untimed_ = nullptr;
  std::uint64_t ready_ = 0;      // when this rank was ready for the message that it receives
  std::optional<Error> broken_;  // sticky; does not affect data that was read earlier
};

}  // namespace ringlet::transport
