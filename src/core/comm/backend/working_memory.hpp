// The memory that a communicator's operations use beside the caller's buffers. It grows as needed
// and stays, because new memory costs more than old.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/value/bytes.hpp"
#include "collective/call/call.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/exec/executor.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// One thread, but for bytes(). Each function gives memory that is valid until its next call.
class WorkingMemory {
 public:
  /// The call's input, or a copy where the operation needs one: multiplied by the scalar, or out
  /// of the way of the output.
  View Staged(const collective::Call& call, collective::CallPlace place);
  /// The call with the data that links carry for it. A barrier gets one byte, since it must wait
  /// for all ranks.
  collective::Call WithData(collective::Call call);
  /// `bytes` of any content.
  std::span<std::byte> Scratch(std::size_t bytes) { return First(scratch_, bytes); }

  /// A task that runs over links, still without its flow, and how its buffers lie.
  struct LinkTask {
    collective::Task task;
    collective::Overlap overlap;
  };
  /// \param call  of WithData
  /// Errors  kInvalidArgument  as OverlapOf
  Result<LinkTask> TaskOf(const collective::Call& call, const collective::Fingerprint& fingerprint,
                          collective::CallPlace place);

  /// Bytes that it holds. Any thread.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  void Free();

 private:
  std::span<std::byte> First(Bytes& buffer, std::size_t bytes);

  Bytes scratch_;
  Bytes staging_;  // a copy of an input
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace ringlet::comm
