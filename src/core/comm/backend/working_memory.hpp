// The memory that a communicator's operations use in addition to the caller's buffers. It grows as
// needed and is kept, because new memory costs more than old.
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

/// One thread, except for bytes(). Each function returns memory that is valid until its next call.
class WorkingMemory {
 public:
  /// Returns false if Staged returns the call's input itself. Most calls need no copy.
  static bool MayStage(const collective::Call& call) {
    return call.kind == collective::CallKind::kAllToAll || call.op == ReduceOp::kPreMulSum;
  }
  /// Returns the call's input, or a copy if the operation needs one. The copy is multiplied by the
  /// scalar, or avoids an overlap with the output.
  View Staged(const collective::Call& call, collective::CallPlace place);
  /// Returns the call with the data that links carry for it. A barrier gets one byte, since it must
  /// wait for all ranks.
  collective::Call WithData(collective::Call call);
  /// Returns `bytes` of undefined content.
  std::span<std::byte> Scratch(std::size_t bytes) { return First(scratch_, bytes); }

  /// A task that runs over links, still without its flow, and the overlap of its buffers.
  struct LinkTask {
    collective::Task task;
    collective::Overlap overlap;
  };
  /// \param call  from WithData
  /// Errors  kInvalidArgument  as OverlapOf
  Result<LinkTask> TaskOf(const collective::Call& call, const collective::Fingerprint& fingerprint,
                          collective::CallPlace place);

  /// Returns the bytes that this holds. Any thread.
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  void Free();

 private:
  std::span<std::byte> First(Bytes& buffer, std::size_t bytes);

  Bytes scratch_;
  Bytes staging_;  // a copy of an input
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace ringlet::comm
