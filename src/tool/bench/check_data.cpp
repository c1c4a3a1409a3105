#include "tool/bench/check_data.hpp"

#include <algorithm>
#include <cstring>

#include "base/value/prng.hpp"
#include "ringlet/status.hpp"
#include "testbed/narrow_float.hpp"

namespace ringlet::cli {
namespace {

// Larger values detect no further mistakes, and small values stay readable in a debugger.
constexpr std::int64_t kValueMax = 100;

bool IsUnsigned(DataType type) {
  return type == DataType::kBool || type == DataType::kUint8 || type == DataType::kUint32 ||
         type == DataType::kUint64;
}

// Returns a number that varies between ranks and elements without a simple pattern.
std::uint64_t Mix(Rank rank, std::size_t index) {
  return Prng(std::uint64_t{Index(rank)} << 32 | index).Next();
}

std::int64_t WithSign(const CheckShape& shape, std::int64_t value, std::uint64_t mixed) {
  return !IsUnsigned(shape.type) && (mixed >> 40 & 1) != 0 ? -value : value;
}

// The absolute values of all ranks add up to at most LargestExact. If there are more ranks than
// that, some contribute 0. The ranks that do so rotate with the index.
std::int64_t Summand(const CheckShape& shape, Rank rank, std::size_t index) {
  const std::uint64_t mixed = Mix(rank, index);
  const auto limit = static_cast<std::uint64_t>(LargestExact(shape.type));
  if (shape.ranks > limit)
    return (Index(rank) + index) % shape.ranks < limit ? WithSign(shape, 1, mixed) : 0;
  const std::uint64_t most = std::min<std::uint64_t>(limit / shape.ranks, kValueMax);
  return WithSign(shape, static_cast<std::int64_t>(1 + mixed % most), mixed);
}

// One rank contributes 3, two contribute 2, and all others contribute 1. Products are thus at most
// 12 and have at most two significant binary digits.
std::int64_t Factor(const CheckShape& shape, Rank rank, std::size_t index) {
  const std::uint64_t place = (Index(rank) + index) % shape.ranks;
  const std::int64_t value = place == 0 ? 3 : place <= 2 ? 2 : 1;
  return WithSign(shape, value, Mix(rank, index));
}

std::int64_t Contestant(const CheckShape& shape, Rank rank, std::size_t index) {
  const std::uint64_t mixed = Mix(rank, index);
  const auto most =
      static_cast<std::uint64_t>(std::min<std::int64_t>(LargestExact(shape.type), kValueMax));
  return WithSign(shape, static_cast<std::int64_t>(1 + mixed % most), mixed);
}

struct Total {
  std::int64_t value;
  std::uint32_t divisor = 1;
};

Total Expected(const CheckShape& shape, std::size_t index) {
  std::int64_t total = InputValue(shape, Rank{0}, index);
  for (std::uint32_t rank = 1; rank < shape.ranks; ++rank) {
    const std::int64_t value = InputValue(shape, Rank{rank}, index);
    switch (shape.op) {
      case ReduceOp::kSum:
      case ReduceOp::kAvg:
      case ReduceOp::kPreMulSum: total += value; break;
      case ReduceOp::kProd: total *= value; break;
      case ReduceOp::kMax: total = std::max(total, value); break;
      case ReduceOp::kMin: total = std::min(total, value); break;
      case ReduceOp::kBand: total &= value; break;
      case ReduceOp::kBor: total |= value; break;
      case ReduceOp::kBxor: total ^= value; break;
    }
  }
  return {total, shape.op == ReduceOp::kAvg ? shape.ranks : 1};
}

// Integer types round the quotient towards zero. Other types round once, after the division.
template <typename T>
void Store(T value, std::byte* out) {
  std::memcpy(out, &value, sizeof value);
}

void Store(DataType type, Total total, std::byte* out) {
  const std::int64_t whole = total.value / std::int64_t{total.divisor};
  const double quotient = static_cast<double>(total.value) / total.divisor;
  switch (type) {
    case DataType::kInt8: return Store(static_cast<std::int8_t>(whole), out);
    case DataType::kUint8: return Store(static_cast<std::uint8_t>(whole), out);
    case DataType::kBool: return Store(static_cast<std::uint8_t>(whole != 0), out);
    case DataType::kInt16: return Store(static_cast<std::int16_t>(whole), out);
    case DataType::kInt32: return Store(static_cast<std::int32_t>(whole), out);
    case DataType::kUint32: return Store(static_cast<std::uint32_t>(whole), out);
    case DataType::kInt64: return Store(whole, out);
    case DataType::kUint64: return Store(static_cast<std::uint64_t>(whole), out);
    case DataType::kFloat32: return Store(static_cast<float>(quotient), out);
    case DataType::kFloat64: return Store(quotient, out);
    case DataType::kFloat16:
    case DataType::kBfloat16: return Store(testbed::Narrow(testbed::FormatOf(type), quotient), out);
    case DataType::kFloat8e4m3:
    case DataType::kFloat8e5m2:
      return Store(static_cast<std::uint8_t>(testbed::Narrow(testbed::FormatOf(type), quotient)),
                   out);
  }
}

template <typename TotalAt>
Bytes OnePeriod(const CheckShape& shape, const TotalAt& total_at) {
  const std::size_t size = SizeOf(shape.type);
  Bytes bytes(kCheckPeriod * size);
  for (std::size_t index = 0; index < kCheckPeriod; ++index)
    Store(shape.type, total_at(index), bytes.data() + index * size);
  return bytes;
}

Bytes InputPeriod(const CheckShape& shape, Rank rank) {
  return OnePeriod(shape, [&](std::size_t index) { return Total{InputValue(shape, rank, index)}; });
}

// Compares `data`, which may begin anywhere in a period.
std::uint64_t CountDifferent(DataType type, View period, View data, std::size_t first) {
  const std::size_t size = SizeOf(type);
  std::size_t phase = first % kCheckPeriod * size;
  std::uint64_t wrong = 0;
  for (std::size_t at = 0; at < data.size();) {
    const std::size_t bytes = std::min(period.size() - phase, data.size() - at);
    const std::byte* const expected = period.data() + phase;
    if (std::memcmp(data.data() + at, expected, bytes) != 0)
      for (std::size_t i = 0; i < bytes; i += size)
        if (std::memcmp(data.data() + at + i, expected + i, size) != 0) ++wrong;
    at += bytes;
    phase = 0;
  }
  return wrong;
}

}  // namespace

std::int64_t LargestExact(DataType type) {
  switch (type) {
    case DataType::kBool: return 1;
    case DataType::kInt8: return 127;
    case DataType::kInt16: return 32767;
    case DataType::kUint8: return 255;
    case DataType::kFloat16: return 1 << 11;
    case DataType::kBfloat16: return 1 << 8;
    case DataType::kFloat8e4m3: return 1 << 4;
    case DataType::kFloat8e5m2: return 1 << 3;
    case DataType::kFloat32: return 1 << 24;
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64: break;
  }
  return std::int64_t{1} << 30;  // more than any rank contributes
}

std::int64_t InputValue(const CheckShape& shape, Rank rank, std::size_t index) {
  switch (shape.op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
    case ReduceOp::kPreMulSum: return Summand(shape, rank, index);
    case ReduceOp::kProd: return Factor(shape, rank, index);
    case ReduceOp::kMax:
    case ReduceOp::kMin:
    case ReduceOp::kBand:
    case ReduceOp::kBor:
    case ReduceOp::kBxor: return Contestant(shape, rank, index);
  }
  return 0;
}

void FillInput(const CheckShape& shape, Rank rank, std::span<std::byte> out) {
  const Bytes period = InputPeriod(shape, rank);
  for (std::size_t at = 0; at < out.size(); at += period.size())
    std::memcpy(out.data() + at, period.data(), std::min(period.size(), out.size() - at));
}

std::uint64_t CountWrongOutput(const CheckShape& shape, View output, std::size_t first) {
  const Bytes period = OnePeriod(shape, [&](std::size_t index) { return Expected(shape, index); });
  return CountDifferent(shape.type, period, output, first);
}

std::uint64_t CountWrongInput(const CheckShape& shape, Rank rank, View input, std::size_t first) {
  return CountDifferent(shape.type, InputPeriod(shape, rank), input, first);
}

std::uint64_t CountWrong(const CheckShape& shape, const collective::Call& call, Rank self,
                         View output) {
  using collective::CallKind;
  if (output.empty()) return 0;
  const std::size_t own_block = call.count * Index(self);
  const auto from_each = [&](std::size_t first) {
    const std::size_t bytes = call.count * SizeOf(shape.type);
    std::uint64_t wrong = 0;
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank)
      wrong += CountWrongInput(shape, Rank{rank}, output.subspan(rank * bytes, bytes), first);
    return wrong;
  };
  switch (call.kind) {
    case CallKind::kAllReduce:
    case CallKind::kReduce: return CountWrongOutput(shape, output);
    case CallKind::kReduceScatter: return CountWrongOutput(shape, output, own_block);
    case CallKind::kBroadcast: return CountWrongInput(shape, call.root, output);
    case CallKind::kScatter: return CountWrongInput(shape, call.root, output, own_block);
    case CallKind::kAllGather:
    case CallKind::kGather: return from_each(0);
    case CallKind::kAllToAll: return from_each(own_block);
    case CallKind::kSendReceive:
      return CountWrongInput(shape, Rank{(Index(self) + shape.ranks - 1) % shape.ranks}, output);
    case CallKind::kAllToAllV:
    case CallKind::kBarrier: break;
  }
  return 0;
}

}  // namespace ringlet::cli
