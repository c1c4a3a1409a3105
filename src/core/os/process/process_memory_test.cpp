#include "os/process/process_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace ringlet::os {
namespace {

// This process, as another one knows it.
KnownProcess Here() {
  static const Secret sign = {std::byte{7}, std::byte{9}};
  return {.pid = ::getpid(), .sign_at = RemoteAddress::Of(&sign), .sign = sign};
}

TEST(ProcessMemory, IsReadAtItsAddress) {
  constexpr std::string_view kText = "what lies there";
  std::array<char, kText.size()> copy{};
  ASSERT_TRUE(ReadMemoryOf(Here(), RemoteAddress::Of(kText.data()),
                           std::as_writable_bytes(std::span(copy))));
  EXPECT_EQ(std::string_view(copy.data(), copy.size()), kText);
}

TEST(ProcessMemory, IsNotReadBeyondItsEnd) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const two = ::mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(two, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<std::byte*>(two) + page, page, PROT_NONE), 0);
  std::array<std::byte, 64> copy{};
  const RemoteAddress end = RemoteAddress::Of(two) + page;
  EXPECT_TRUE(ReadMemoryOf(Here(), end - copy.size(), copy));
  EXPECT_FALSE(ReadMemoryOf(Here(), end - copy.size() / 2, copy));
  EXPECT_FALSE(ReadMemoryOf(Here(), RemoteAddress(), copy));
  ::munmap(two, 2 * page);
}

TEST(ProcessMemory, IsNotReadWithoutAProcess) {
  std::array<std::byte, 8> copy{};
  KnownProcess nobody = Here();
  nobody.pid = 0x7fffffff;
  EXPECT_FALSE(ReadMemoryOf(nobody, RemoteAddress::Of(copy.data()), copy));
  EXPECT_FALSE(ReadMemoryOf(KnownProcess(), RemoteAddress::Of(copy.data()), copy));
}

// The pid matches and the memory is readable, but the sign differs.
TEST(ProcessMemory, IsNotReadFromAProcessWithoutTheSign) {
  std::array<std::byte, 8> copy{};
  const std::array<std::byte, 8> data{};
  KnownProcess other = Here();
  other.sign[0] = std::byte{8};
  EXPECT_FALSE(ReadMemoryOf(other, RemoteAddress::Of(data.data()), copy));
  other = Here();
  other.sign_at = RemoteAddress();
  EXPECT_FALSE(ReadMemoryOf(other, RemoteAddress::Of(data.data()), copy));
}

// A kernel or container may forbid it.
TEST(ProcessMemory, RefusalHasAKnownErrorCode) {
  const int error = MemoryRefusal();
  EXPECT_TRUE(error == 0 || error == EPERM || error == ENOSYS) << error;
}

}  // namespace
}  // namespace ringlet::os
