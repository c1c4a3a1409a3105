#include "transport/arena/shared_buffers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace ringlet::transport {
namespace {

std::shared_ptr<const os::Shm> SharedMemory(std::size_t bytes) {
  auto memory = os::Shm::Create(bytes);
  EXPECT_TRUE(memory.ok());
  return std::make_shared<os::Shm>(std::move(memory).value());
}

// Two ranks of this process that take each other for other processes.
struct Two {
  Two() : arena(Arena::Create({.ranks = 2}).value()) {
    first.Publish(arena, 0);
    second.Publish(arena, 1);
  }
  std::shared_ptr<Arena> arena;
  SharedBuffers first, second;
};

TEST(SharedBuffers, APeerMapsTheMemoryOfAPlace) {
  Two two;
  const auto memory = SharedMemory(10'000);
  ASSERT_TRUE(two.first.Register(memory->bytes().first(100), memory).ok());
  std::byte* const at = memory->bytes().data() + 5000;
  const auto place = two.first.Find(at, 5000);
  ASSERT_TRUE(place) << "an allocation counts as a whole";
  EXPECT_FALSE(two.first.Find(at, 5001));
  EXPECT_FALSE(two.first.Find(memory->bytes().data() - 1, 5));
  std::byte* const seen = two.second.Reach(0, *place, 5000);
  ASSERT_NE(seen, nullptr);
  EXPECT_NE(seen, at) << "a mapping of its own";
  *seen = std::byte{9};
  EXPECT_EQ(*at, std::byte{9});
  EXPECT_EQ(two.second.Reach(0, *place, 5000), seen) << "mapped once";
}

TEST(SharedBuffers, MemoryRegisteredBeforeTheArenaIsPublished) {
  const auto arena = Arena::Create({.ranks = 2}).value();
  SharedBuffers first, second;
  const auto memory = SharedMemory(4096);
  ASSERT_TRUE(first.Register(memory->bytes(), memory).ok());
  first.Publish(arena, 0);
  second.Publish(arena, 1);
  EXPECT_NE(second.Reach(0, *first.Find(memory->bytes().data(), 1), 1), nullptr);
}

TEST(SharedBuffers, RegistrationsAreCounted) {
  Two two;
  const auto memory = SharedMemory(4096);
  const auto handle = two.first.Register(memory->bytes(), memory).value();
  EXPECT_EQ(two.first.Register(memory->bytes(), memory).value(), handle);
  EXPECT_NE(two.first.Register(memory->bytes().first(64), memory).value(), handle);
  ASSERT_TRUE(two.first.Deregister(handle + 1).ok());
  ASSERT_TRUE(two.first.Deregister(handle).ok());
  EXPECT_TRUE(two.first.Find(memory->bytes().data(), 1));
  ASSERT_TRUE(two.first.Deregister(handle).ok());
  EXPECT_FALSE(two.first.Find(memory->bytes().data(), 1));
  EXPECT_EQ(two.first.Deregister(handle).error().code, Code::kInvalidArgument);
}

TEST(SharedBuffers, WrongUseIsRefused) {
  Two two;
  const auto memory = SharedMemory(4096);
  const auto handle = two.first.Register(memory->bytes(), memory);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(two.first.Deregister(*handle + 1).error().code, Code::kInvalidArgument);
  EXPECT_TRUE(two.first.Deregister(*handle).ok());
  EXPECT_EQ(two.first.Deregister(*handle).error().code, Code::kInvalidArgument);
  Bytes own(64);
  EXPECT_TRUE(two.first.Register(own, nullptr).ok());
  EXPECT_FALSE(two.first.Find(own.data(), 64)) << "nobody can map that";
}

TEST(SharedBuffers, MemoryIsReachableUntilItsLastRegistrationEnds) {
  Two two;
  const auto memory = SharedMemory(8192);
  const auto low = two.first.Register(memory->bytes().first(4096), memory).value();
  const auto high = two.first.Register(memory->bytes().last(4096), memory).value();
  ASSERT_TRUE(two.first.Deregister(low).ok());
  const auto place = two.first.Find(memory->bytes().data(), 8192);
  ASSERT_TRUE(place);
  ASSERT_TRUE(two.first.Deregister(high).ok());
  EXPECT_FALSE(two.first.Find(memory->bytes().data(), 8192));
  EXPECT_EQ(two.second.Reach(0, *place, 1), nullptr);
  EXPECT_EQ(memory.use_count(), 1);
}

TEST(SharedBuffers, ANewBufferInAReusedSlotIsMappedAgain) {
  Two two;
  const auto one = SharedMemory(4096), other = SharedMemory(4096);
  const auto handle = two.first.Register(one->bytes(), one).value();
  const auto old = two.first.Find(one->bytes().data(), 1).value();
  ASSERT_NE(two.second.Reach(0, old, 1), nullptr);
  ASSERT_TRUE(two.first.Deregister(handle).ok());
  ASSERT_TRUE(two.first.Register(other->bytes(), other).ok());
  const auto fresh = two.first.Find(other->bytes().data(), 1).value();
  EXPECT_NE(fresh.name, old.name);
  std::byte* const seen = two.second.Reach(0, fresh, 1);
  ASSERT_NE(seen, nullptr);
  other->bytes()[0] = std::byte{3};
  EXPECT_EQ(*seen, std::byte{3});
}

TEST(SharedBuffers, BuffersBeyondTheSlotsAreNotFound) {
  Two two;
  std::vector<std::shared_ptr<const os::Shm>> memory;
  std::vector<SharedBuffers::Handle> handles;
  for (std::size_t i = 0; i <= ArenaRank::kBuffers; ++i) {
    memory.push_back(SharedMemory(64));
    handles.push_back(two.first.Register(memory[i]->bytes(), memory[i]).value());
  }
  EXPECT_TRUE(two.first.Find(memory.front()->bytes().data(), 64));
  EXPECT_FALSE(two.first.Find(memory.back()->bytes().data(), 64));
  for (const auto handle : handles) EXPECT_TRUE(two.first.Deregister(handle).ok());
}

TEST(SharedBuffers, ReadsOnlyFromVerifiedProcesses) {
  Two two;
  const std::array<std::byte, 4> data = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const RemoteAddress address = RemoteAddress::Of(data.data());
  const Secret sign = {std::byte{5}};
  std::array<std::byte, 4> copy{};
  EXPECT_FALSE(two.second.VerifyProcess(0) || two.second.Get(0, address, copy));
  two.second.SetProcesses(
      {{.pid = ::getpid(), .sign_at = RemoteAddress::Of(&sign), .sign = sign}, {}});
  EXPECT_TRUE(two.second.VerifyProcess(0) && two.second.Get(0, address, copy));
  EXPECT_EQ(copy, data);
  EXPECT_FALSE(two.second.VerifyProcess(1) || two.second.Get(1, address, copy));
  EXPECT_FALSE(two.second.VerifyProcess(2) || two.second.Get(2, address, copy));
}

TEST(SharedBuffers, MemoryWithoutADescriptorIsUnreachable) {
  Two two;
  auto made = os::Shm::Create(4096);
  ASSERT_TRUE(made.ok());
  made->CloseDescriptor();
  const auto memory = std::make_shared<os::Shm>(std::move(made).value());
  ASSERT_TRUE(two.first.Register(memory->bytes(), memory).ok());
  const auto place = two.first.Find(memory->bytes().data(), 1);
  ASSERT_TRUE(place);
  EXPECT_EQ(two.second.Reach(0, *place, 1), nullptr);
}

TEST(BufferPlace, PackingRoundTrips) {
  const std::uint32_t name = (1u << BufferPlace::kNameBits) - 1;
  const std::uint64_t last = (std::uint64_t{1} << BufferPlace::kOffsetBits) - 1;
  for (const BufferPlace place :
       {BufferPlace{1, 0}, BufferPlace{name, 5}, BufferPlace{129, last}}) {
    const BufferPlace back = BufferPlace::Unpack(*place.Packed() | std::uint64_t{1} << 63);
    EXPECT_EQ(back.name, place.name);
    EXPECT_EQ(back.offset, place.offset);
  }
  EXPECT_FALSE((BufferPlace{1, last + 1}.Packed()));
  EXPECT_LE(BufferPlace::Unpack(UINT64_MAX).name, name);
}

TEST(SharedBuffers, AFalsePlaceIsNotMapped) {
  const auto memory = SharedMemory(4096);
  for (int lie = 0; lie < 4; ++lie) {
    Two two;
    ASSERT_TRUE(two.first.Register(memory->bytes(), memory).ok());
    ArenaBuffer& shown = two.arena->rank(0).buffers[0];
    if (lie == 0) shown.inode += 1;
    if (lie == 1) shown.bytes *= 2;
    if (lie == 2) shown.descriptor = 0;
    if (lie == 3) shown.pid = -1;
    EXPECT_EQ(two.second.Reach(0, *two.first.Find(memory->bytes().data(), 1), 1), nullptr) << lie;
  }
}

}  // namespace
}  // namespace ringlet::transport
