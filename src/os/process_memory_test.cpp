#include "os/process_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <string_view>

namespace ringlet::os {
namespace {

std::uint64_t AddressOf(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory);
}

TEST(ProcessMemory, IsReadWhereItIs) {
  constexpr std::string_view kText = "what lies there";
  std::array<char, kText.size()> copy{};
  ASSERT_TRUE(
      ReadMemoryOf(::getpid(), AddressOf(kText.data()), std::as_writable_bytes(std::span(copy))));
  EXPECT_EQ(std::string_view(copy.data(), copy.size()), kText);
}

TEST(ProcessMemory, ThatEndsTooSoonIsNotRead) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const two = ::mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(two, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<std::byte*>(two) + page, page, PROT_NONE), 0);
  std::array<std::byte, 64> copy{};
  const auto end = AddressOf(two) + page;
  EXPECT_TRUE(ReadMemoryOf(::getpid(), end - copy.size(), copy));
  EXPECT_FALSE(ReadMemoryOf(::getpid(), end - copy.size() / 2, copy));
  EXPECT_FALSE(ReadMemoryOf(::getpid(), 0, copy));
  ::munmap(two, 2 * page);
}

TEST(ProcessMemory, OfNobodyIsNotRead) {
  std::array<std::byte, 8> copy{};
  EXPECT_FALSE(ReadMemoryOf(0x7fffffff, AddressOf(copy.data()), copy));
}

}  // namespace
}  // namespace ringlet::os
