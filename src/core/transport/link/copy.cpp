#include "transport/link/copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

// Highway compiles the rest of this file once per instruction set and chooses one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transport/link/copy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // must precede highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ringlet::transport::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of 64 bytes lower the clock of some processors.
using Bytes32 = hn::CappedTag<std::uint8_t, 32>;

HWY_INLINE void CopyFour(const std::uint8_t* from, std::uint8_t* to) {
  const Bytes32 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto a = hn::LoadU(d, from);
  const auto b = hn::LoadU(d, from + lanes);
  const auto c = hn::LoadU(d, from + 2 * lanes);
  const auto e = hn::LoadU(d, from + 3 * lanes);
  hn::StoreU(a, d, to);
  hn::StoreU(b, d, to + lanes);
  hn::StoreU(c, d, to + 2 * lanes);
  hn::StoreU(e, d, to + 3 * lanes);
}

/// Copies `bytes`, at least 128. The first and the last step overlap the steps beside them, so that
/// the others store to aligned addresses.
void CopyVectors(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes) {
  const std::size_t step = 4 * hn::Lanes(Bytes32());
  CopyFour(from, to);
  std::size_t at = step - reinterpret_cast<std::uintptr_t>(to) % step;
  for (; at + step <= bytes; at += step) CopyFour(from + at, to + at);
  CopyFour(from + bytes - step, to + bytes - step);
}

/// \pre  `out` begins and ends at multiples of 64
void StreamVectors(const std::uint8_t* from, std::span<std::uint8_t> out) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t step = hn::Lanes(d);
  for (std::size_t at = 0; at < out.size(); at += step)
    hn::Stream(hn::LoadU(d, from + at), d, out.data() + at);
  hwy::FlushStream();
}

}  // namespace ringlet::transport::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringlet::transport {
namespace {

constexpr std::size_t kStreamAlign = 64;

HWY_EXPORT(CopyVectors);
HWY_EXPORT(StreamVectors);

const std::uint8_t* Numbers(const std::byte* bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes);
}

std::uint8_t* Numbers(std::byte* bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes);
}

}  // namespace

void CopyByVectors(View from, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(CopyVectors)(Numbers(from.data()), Numbers(to), from.size());
}

void StreamCopy(View from, std::byte* to) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % kStreamAlign;
  const std::size_t head = std::min(past == 0 ? 0 : kStreamAlign - past, from.size());
  std::memcpy(to, from.data(), head);
  const std::size_t body = (from.size() - head) / kStreamAlign * kStreamAlign;
  HWY_DYNAMIC_DISPATCH(StreamVectors)
  (Numbers(from.data() + head), std::span(Numbers(to + head), body));
  std::memcpy(to + head + body, from.data() + head + body, from.size() - head - body);
}

}  // namespace ringlet::transport
#endif
