#include "emulate/host/memory.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace ringlet::cuda {
namespace {

using testing::HasSubstr;

constexpr std::size_t kBytes = 64 * DeviceMemory::kPageBytes;

std::byte* Bytes(void* pointer) {
  return static_cast<std::byte*>(pointer);
}

TEST(MemoryTest, FindsABlockByAnyAddressInside) {
  Memory memory(2, kBytes);
  std::byte* const at = Bytes(*memory.AllocateDevice(1, 100));
  for (const std::size_t offset : {0u, 50u, 99u}) {
    const auto block = memory.Find(at + offset);
    ASSERT_TRUE(block.has_value());
    EXPECT_EQ(block->begin, at);
    EXPECT_EQ(block->bytes, 100u);
    EXPECT_EQ(block->device, 1u);
  }
  EXPECT_FALSE(memory.Find(at + 100).has_value());
  EXPECT_FALSE(memory.Find(at - 1).has_value());
  EXPECT_FALSE(memory.Find(&memory).has_value());
}

TEST(MemoryTest, FreesALiveBlockOnlyByItsStart) {
  Memory memory(1, kBytes);
  std::byte* const at = Bytes(*memory.AllocateDevice(0, 100));
  EXPECT_FALSE(memory.Free(at + 1, MemoryKind::kDevice).ok());
  EXPECT_FALSE(memory.Free(at, MemoryKind::kPinned).ok());
  EXPECT_TRUE(memory.Free(at, MemoryKind::kDevice).ok());
  const Status again = memory.Free(at, MemoryKind::kDevice);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("freed before"));
  int stray = 0;
  EXPECT_FALSE(memory.Free(&stray, MemoryKind::kDevice).ok());
}

TEST(MemoryTest, LimitsTheMemoryOfEachDevice) {
  Memory memory(2, kBytes);
  ASSERT_TRUE(memory.AllocateDevice(0, kBytes).ok());
  EXPECT_EQ(memory.AllocateDevice(0, 1).error().code, Code::kSystem);
  EXPECT_TRUE(memory.AllocateDevice(1, kBytes / 2).ok());
  EXPECT_EQ(memory.InfoOf(0).free, 0u);
  EXPECT_EQ(memory.InfoOf(1).free, kBytes / 2);
  EXPECT_EQ(memory.InfoOf(1).total, kBytes);
  memory.FreeAll(0);
  EXPECT_EQ(memory.InfoOf(0).free, kBytes);
  EXPECT_EQ(memory.AllocateDevice(2, 1).error().code, Code::kInvalidArgument);
}

TEST(MemoryTest, RefusesARangeThatLeavesItsBlock) {
  Memory memory(1, kBytes);
  std::byte* const at = Bytes(*memory.AllocateDevice(0, 100));
  EXPECT_TRUE(memory.Check(at, 100).ok());
  EXPECT_TRUE(memory.Check(at + 99, 1).ok());
  EXPECT_FALSE(memory.Check(at + 1, 100).ok());
  EXPECT_FALSE(memory.Check(at + 200, 1).ok());  // unallocated device memory
  EXPECT_TRUE(memory.Check(&memory, 8).ok());    // the program's own
  ASSERT_TRUE(memory.Free(at, MemoryKind::kDevice).ok());
  EXPECT_FALSE(memory.Check(at, 1).ok());
}

TEST(MemoryTest, RefusesOverlappingRegistrations) {
  Memory memory(1, kBytes);
  std::byte own[64];
  const auto enter = [&](std::byte* at, std::size_t bytes) {
    return memory.Register(at, bytes, MemoryKind::kRegistered, 0).ok();
  };
  EXPECT_TRUE(enter(own + 16, 16));
  EXPECT_FALSE(enter(own, 17));
  EXPECT_FALSE(enter(own + 31, 1));
  EXPECT_FALSE(enter(own + 16, 16));
  EXPECT_TRUE(enter(own, 16));
  EXPECT_TRUE(enter(own + 32, 32));
  EXPECT_FALSE(enter(nullptr, 1));
  EXPECT_FALSE(memory.Unregister(own + 16, MemoryKind::kOfNccl).ok()) << "of another kind";
  EXPECT_TRUE(memory.Unregister(own + 16).ok());
  EXPECT_FALSE(memory.Unregister(own + 16).ok());
  EXPECT_FALSE(memory.Unregister(own + 1).ok());
}

TEST(MemoryTest, FreesPinnedMemoryOnlyAsPinned) {
  Memory memory(1, kBytes);
  void* const at = *memory.AllocatePinned(10, 3);
  EXPECT_EQ(memory.Find(at)->flags, 3u);
  EXPECT_FALSE(memory.Free(at, MemoryKind::kDevice).ok());
  EXPECT_TRUE(memory.Free(at, MemoryKind::kPinned).ok());
  EXPECT_EQ(*memory.AllocatePinned(0, 0), nullptr);
  EXPECT_EQ(memory.AllocatePinned(SIZE_MAX, 0).error().code, Code::kSystem);
}

// The child sees the parent's memory, and the parent sees the child's writes.
TEST(MemoryTest, AnotherProcessOpensABlockByItsHandle) {
  Memory memory(2, kBytes);
  ASSERT_TRUE(memory.AllocateDevice(1, 10).ok());
  std::byte* const at = Bytes(*memory.AllocateDevice(1, 100));
  std::memset(at, 7, 100);
  const auto handle = memory.Export(at + 50);
  ASSERT_TRUE(handle.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    Memory mine(2, kBytes);
    const auto opened = mine.Import(*handle), again = mine.Import(*handle);
    bool right = opened.ok() && again.ok() && *opened == *again;
    right = right && mine.Find(*opened)->kind == MemoryKind::kImported;
    right = right && mine.Find(*opened)->device == 1 && Bytes(*opened)[99] == std::byte{7};
    if (right) Bytes(*opened)[0] = std::byte{9};
    right = right && mine.Close(*opened).ok() && mine.Find(*opened).has_value();
    right = right && mine.Close(*opened).ok() && !mine.Find(*opened).has_value();
    right = right && !mine.Close(*opened).ok();
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(at[0], std::byte{9});
}

TEST(MemoryTest, RefusesInvalidHandles) {
  Memory memory(1, kBytes);
  void* const at = *memory.AllocateDevice(0, 100);
  EXPECT_FALSE(memory.Export(&memory).ok());
  const auto own = memory.Export(at);
  ASSERT_TRUE(own.ok());
  const auto of_itself = memory.Import(*own);
  ASSERT_FALSE(of_itself.ok());
  EXPECT_THAT(of_itself.error().message, HasSubstr("belongs to this process"));
  EXPECT_FALSE(memory.Import(IpcHandle{}).ok());
  for (std::size_t i = 0; i < own->size(); ++i) {
    IpcHandle changed = *own;
    changed[i] ^= std::byte{0x40};
    static_cast<void>(memory.Import(changed));  // refused or harmless, never a crash
  }
  EXPECT_FALSE(memory.Close(at).ok());
}

TEST(MemoryTest, RefusesAllocationsInAForkedChild) {
  Memory memory(1, kBytes);
  ASSERT_TRUE(memory.AllocateDevice(0, 1).ok());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(memory.AllocateDevice(0, 1).ok() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringlet::cuda
