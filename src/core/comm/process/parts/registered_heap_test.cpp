#include "comm/process/parts/registered_heap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

std::size_t OpenDescriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

std::size_t MappedFiles() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:ringlet") != std::string::npos) ++count;
  return count;
}

TEST(RegisteredHeap, AllocatesAndFreesMemoryCompletely) {
  RegisteredHeap heap;
  const std::size_t descriptors = OpenDescriptors(), mapped = MappedFiles();
  const auto memory = heap.Allocate(3 << 20);
  ASSERT_TRUE(memory.ok()) << memory.error().message;
  EXPECT_EQ(MappedFiles(), mapped + 1);
  EXPECT_EQ((*memory)[(3 << 20) - 1], std::byte{0});
  std::memset(*memory, 1, 3 << 20);
  EXPECT_TRUE(heap.Free(*memory).ok());
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_EQ(MappedFiles(), mapped);
}

TEST(RegisteredHeap, FreedMemoryIsDiscardedEvenIfAPeerMapsIt) {
  RegisteredHeap heap;
  std::byte* const memory = heap.Allocate(4096).value();
  auto allocation = heap.Find(View(memory, 1));
  const auto identity = allocation->identity().value();
  const auto peer = os::Shm::MapOf(static_cast<std::int32_t>(::getpid()), allocation->fd().get(),
                                   identity.device, identity.inode, 4096);
  ASSERT_TRUE(peer.ok()) << peer.error().message;
  memory[0] = std::byte{5};
  EXPECT_EQ(peer->bytes()[0], std::byte{5});
  allocation.reset();
  ASSERT_TRUE(heap.Free(memory).ok());
  EXPECT_EQ(peer->bytes()[0], std::byte{0}) << "its pages are the system's";
}

TEST(RegisteredHeap, WrongFreesAreRefused) {
  RegisteredHeap heap;
  int other = 0;
  EXPECT_THAT(heap.Free(&other).error().message, HasSubstr("not the beginning"));
  std::byte* const memory = heap.Allocate(8192).value();
  EXPECT_EQ(heap.Free(memory + 1).error().code, Code::kInvalidArgument);
  bool told = false;
  EXPECT_FALSE(heap.Free(memory + 1, [&] { told = true; }).ok());
  EXPECT_FALSE(told) << "nothing is gone";
  EXPECT_TRUE(heap.Free(memory).ok());
  EXPECT_THAT(heap.Free(memory).error().message, HasSubstr("freed already"));
}

// A registration holds the allocation that it was found in, as `user` does here.
TEST(RegisteredHeap, FreedMemoryKeepsItsAddressesUntilItsLastUserEnds) {
  RegisteredHeap heap;
  const std::size_t descriptors = OpenDescriptors(), mapped = MappedFiles();
  std::byte* const memory = heap.Allocate(8192).value();
  auto user = heap.Find(View(memory, 8192));
  memory[5] = std::byte{7};
  bool told = false;
  ASSERT_TRUE(heap.Free(memory,
                        [&] {
                          told = true;
                          EXPECT_FALSE(heap.Find(View(memory, 1)));
                          EXPECT_EQ(MappedFiles(), mapped + 1) << "its address is no other's yet";
                        })
                  .ok());
  EXPECT_TRUE(told);
  EXPECT_EQ(MappedFiles(), mapped + 1);
  EXPECT_EQ(user->bytes()[5], std::byte{0}) << "its pages are the system's";
  EXPECT_FALSE(heap.Find(View(memory, 1))) << "what is freed cannot be registered again";
  EXPECT_THAT(heap.Free(memory).error().message, HasSubstr("freed already"));
  user.reset();
  EXPECT_EQ(MappedFiles(), mapped);
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

TEST(RegisteredHeap, RefusesZeroAndExcessiveSizes) {
  RegisteredHeap heap;
  EXPECT_EQ(heap.Allocate(0).error().code, Code::kInvalidArgument);
  EXPECT_EQ(heap.Allocate(std::size_t{1} << 62).error().code, Code::kSystem);
}

TEST(RegisteredHeap, FindsTheAllocationOfAnAddressRange) {
  RegisteredHeap heap;
  std::byte* const memory = heap.Allocate(100).value();
  EXPECT_EQ(heap.Find(View(memory + 40, 60))->bytes().data(), memory);
  EXPECT_FALSE(heap.Find(View(memory + 40, 61)));
  EXPECT_FALSE(heap.Find(View(memory + 101, 0)));
  EXPECT_FALSE(heap.Find(View(memory - 1, 1)));
  EXPECT_TRUE(heap.Free(memory).ok());
}

}  // namespace
}  // namespace ringlet::comm
