#include "comm/backend/working_memory.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "collective/reduce/reduce.hpp"
#include "transport/link/copy.hpp"

namespace ringlet::comm {
namespace {

bool Overlapping(View a, View b) {
  return !a.empty() && !b.empty() && a.data() < b.data() + b.size() &&
         b.data() < a.data() + a.size();
}

/// out = input times a scalar. `scalar` is one element.
void Scale(DataType type, View input, View scalar, std::span<std::byte> out) {
  constexpr std::size_t kBlockBytes = 4096;
  std::array<std::byte, kBlockBytes> block;
  for (std::size_t at = 0; at < kBlockBytes; at += scalar.size())
    std::memcpy(block.data() + at, scalar.data(), scalar.size());
  for (std::size_t at = 0; at < input.size(); at += kBlockBytes) {
    const std::size_t bytes = std::min(kBlockBytes, input.size() - at);
    collective::Reduce({.type = type, .op = ReduceOp::kProd}, input.subspan(at, bytes),
                       View(block).first(bytes), out.subspan(at, bytes));
  }
}

}  // namespace

View WorkingMemory::Staged(const collective::Call& call, collective::CallPlace place) {
  const View input = call.input.first(InputBytes(call, place));
  const bool multiplies = Reduces(call.kind) && call.op == ReduceOp::kPreMulSum;
  const bool moves =
      call.kind == collective::CallKind::kAllToAll && Overlapping(input, call.output);
  if (input.empty() || (!multiplies && !moves)) return input;
  const std::span<std::byte> copy = First(staging_, input.size());
  if (multiplies) {
    const View scalar =
        call.scalar_at ? View(call.scalar_at, SizeOf(call.type)) : call.scalar.view();
    Scale(call.type, input, scalar, copy);
  } else {
    transport::Copy(input, copy.data());
  }
  return copy;
}

collective::Call WorkingMemory::WithData(collective::Call call) {
  if (call.kind != collective::CallKind::kBarrier) return call;
  constexpr std::size_t kBarrierBytes = 1;
  call.output = First(staging_, kBarrierBytes);
  call.input = call.output;
  call.count = kBarrierBytes;
  call.type = DataType::kUint8;
  return call;
}

Result<WorkingMemory::LinkTask> WorkingMemory::TaskOf(const collective::Call& call,
                                                      const collective::Fingerprint& fingerprint,
                                                      collective::CallPlace place) {
  LinkTask made{.task = {.flow = nullptr,
                         .input = Staged(call, place),
                         .output = call.output.first(OutputBytes(call, place)),
                         .fingerprint = fingerprint,
                         .self = place.self,
                         .ranks = place.ranks},
                .overlap = {}};
  made.task.fingerprint.count = call.count;
  RINGLET_TRY_ASSIGN(made.overlap,
                     collective::OverlapOf(call, place.self, made.task.input, made.task.output));
  return made;
}

void WorkingMemory::Free() {
  scratch_ = Bytes();
  staging_ = Bytes();
  bytes_.store(0, std::memory_order_relaxed);
}

std::span<std::byte> WorkingMemory::First(Bytes& buffer, std::size_t bytes) {
  if (buffer.size() < bytes) {
    buffer.resize(bytes);
    bytes_.store(scratch_.capacity() + staging_.capacity(), std::memory_order_relaxed);
  }
  return std::span(buffer).first(bytes);
}

}  // namespace ringlet::comm
