#include "emulate/host/device_memory.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace ringlet::cuda {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPage = DeviceMemory::kPageBytes;

TEST(DeviceMemoryTest, BlocksAreSeparateAndZeroed) {
  auto memory = DeviceMemory::Create(16 * kPage);
  ASSERT_TRUE(memory.ok());
  const auto a = memory->Allocate(1), b = memory->Allocate(kPage + 1);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(*b - *a, static_cast<std::ptrdiff_t>(kPage));
  EXPECT_EQ(memory->free_bytes(), 13 * kPage);
  std::memset(*a, 1, kPage);
  EXPECT_EQ(**b, std::byte{0});
}

TEST(DeviceMemoryTest, RefusesMoreThanTheLimitAndNamesTheFreeBytes) {
  auto memory = DeviceMemory::Create(4 * kPage);
  ASSERT_TRUE(memory->Allocate(3 * kPage).ok());
  const auto more = memory->Allocate(kPage + 1);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, Code::kSystem);
  EXPECT_THAT(more.error().message, HasSubstr("4096 of 16384 are free"));
  EXPECT_FALSE(memory->Allocate(SIZE_MAX).ok());
  EXPECT_TRUE(memory->Allocate(kPage).ok());
  EXPECT_EQ(memory->free_bytes(), 0u);
}

TEST(DeviceMemoryTest, FreedBlocksMergeAndReadAsZero) {
  auto memory = DeviceMemory::Create(4 * kPage);
  std::byte* blocks[4];
  for (std::byte*& block : blocks) {
    block = *memory->Allocate(kPage);
    std::memset(block, 0xff, kPage);
  }
  for (const std::size_t i : {0u, 2u, 1u, 3u}) memory->Free(blocks[i]);  // before, after, between
  EXPECT_EQ(memory->free_bytes(), 4 * kPage);
  const auto whole = memory->Allocate(4 * kPage);
  ASSERT_TRUE(whole.ok());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ((*whole)[i * kPage], std::byte{0});
  EXPECT_FALSE(memory->Allocate(1).ok()) << "no place is there twice";
}

TEST(DeviceMemoryTest, ContainsExactlyItsOwnAddresses) {
  auto memory = DeviceMemory::Create(2 * kPage);
  std::byte* const begin = *memory->Allocate(1);
  EXPECT_TRUE(memory->Contains(begin));
  EXPECT_TRUE(memory->Contains(begin + 2 * kPage - 1));
  EXPECT_FALSE(memory->Contains(begin + 2 * kPage));
  EXPECT_FALSE(memory->Contains(&memory));
}

}  // namespace
}  // namespace ringlet::cuda
