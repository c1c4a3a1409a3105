#include "transport/link/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringlet::transport {
namespace {

Bytes Numbered(std::size_t bytes) {
  Bytes data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 256);
  return data;
}

// Checks that `copy` writes `bytes` bytes at `to_shift`, and none around them.
void Check(CopyFunction copy, View from, std::size_t from_shift, std::size_t to_shift,
           std::size_t bytes) {
  constexpr std::size_t kAround = 300;
  Bytes to(bytes + 2 * kAround, std::byte{1});
  const View source = from.subspan(from_shift, bytes);
  copy(source, to.data() + kAround + to_shift);
  const auto begin = to.begin() + static_cast<std::ptrdiff_t>(kAround + to_shift);
  const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
  ASSERT_TRUE(std::equal(begin, end, source.begin()))
      << bytes << " bytes from " << from_shift << " to " << to_shift;
  const auto untouched = [](std::byte byte) { return byte == std::byte{1}; };
  ASSERT_TRUE(std::all_of(to.begin(), begin, untouched) && std::all_of(end, to.end(), untouched))
      << bytes << " bytes from " << from_shift << " to " << to_shift;
}

TEST(Copy, CopiesAtAnyAlignment) {
  const Bytes from = Numbered(6000);
  for (std::size_t shift = 0; shift < 130; ++shift)
    for (const std::size_t bytes : {0u, 1u, 2048u, 2049u, 2175u, 2176u, 4000u, 5800u})
      Check(Copy, from, shift / 3, shift, bytes);
}

TEST(Copy, CopiesLargeData) {
  const Bytes from = Numbered((1 << 20) + 100);
  for (const std::size_t bytes : {(1u << 16) + 1, (1u << 20) - 1, 1u << 20, (1u << 20) + 1})
    for (const std::size_t shift : {0u, 16u, 31u}) Check(Copy, from, shift, 31 - shift, bytes);
}

TEST(StreamCopy, CopiesAtAnyAlignment) {
  const Bytes from = Numbered(700);
  for (std::size_t shift = 0; shift < 66; ++shift)
    for (const std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 200u, 600u})
      Check(StreamCopy, from, shift / 2, shift, bytes);
}

}  // namespace
}  // namespace ringlet::transport
