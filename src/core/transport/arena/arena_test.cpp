#include "transport/arena/arena.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

namespace ringlet::transport {
namespace {

os::Fd CopyOf(const os::Fd& fd) {
  return os::Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
}

TEST(Arena, IsMappedFromTheDescriptorOfItsProcess) {
  const ArenaShape shape{.ranks = 2};
  const auto arena = *Arena::Create(shape);
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const ArenaPlace place = *arena->PlaceIn(pid);
  const auto mapped = Arena::MapAt(place, shape);
  ASSERT_TRUE(mapped.ok()) << mapped.error().message;
  arena->stage(1, 0)[0] = std::byte{9};
  EXPECT_EQ((*mapped)->stage(1, 0)[0], std::byte{9});
  ArenaPlace other = place;
  ++other.inode;
  EXPECT_EQ(Arena::MapAt(other, shape).error().code, Code::kProtocol);
  EXPECT_EQ(Arena::MapAt(place, {.ranks = 3}).error().code, Code::kProtocol);
  EXPECT_EQ(Arena::MapAt(place, {.ranks = 0}).error().code, Code::kProtocol);
  arena->CloseDescriptor();
  EXPECT_FALSE(Arena::MapAt(place, shape).ok());
}

TEST(Arena, ShapesAreBounded) {
  EXPECT_TRUE((ArenaShape{.ranks = 1}).Valid());
  EXPECT_TRUE((ArenaShape{.ranks = ArenaShape::kRanksMax}).Valid());
  EXPECT_FALSE((ArenaShape{.ranks = 0}).Valid());
  EXPECT_FALSE((ArenaShape{.ranks = ArenaShape::kRanksMax + 1}).Valid());
  EXPECT_FALSE((ArenaShape{.ranks = 2, .slot_bytes = 0}).Valid());
  EXPECT_FALSE((ArenaShape{.ranks = 2, .slot_bytes = 65}).Valid());
  EXPECT_FALSE((ArenaShape{.ranks = 2, .stage_bytes = ArenaShape::kPartBytesMax + 64}).Valid());
  EXPECT_FALSE((ArenaShape{.ranks = 2, .stage_bytes = ~std::uint64_t{63}}).Valid());
}

TEST(Arena, PartsDoNotOverlapAndAreAligned) {
  const ArenaShape shape{.ranks = 3, .slot_bytes = 192, .stage_bytes = 320};
  const auto arena = Arena::Create(shape);
  ASSERT_TRUE(arena.ok());
  std::set<std::pair<std::uintptr_t, std::uintptr_t>> parts;
  const auto add = [&](const void* at, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    EXPECT_EQ(begin % 64, 0u);
    parts.emplace(begin, begin + bytes);
  };
  add(&(*arena)->header(), sizeof(ArenaHeader));
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&(*arena)->rank(rank)) % 4096, 0u);
    add(&(*arena)->rank(rank), sizeof(ArenaRank));
    for (std::uint64_t post = 0; post < ArenaShape::kPosts; ++post) {
      add(&(*arena)->post(rank, post), sizeof(ArenaPost));
      EXPECT_EQ(&(*arena)->post(rank, post), &(*arena)->post(rank, post + ArenaShape::kPosts));
    }
    add((*arena)->payload(rank, 0), shape.PayloadBytes());
    for (std::size_t stage = 0; stage < shape.stages; ++stage)
      add((*arena)->stage(rank, stage * shape.stage_bytes), shape.stage_bytes);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(&(*arena)->header());
  std::uintptr_t last = begin;
  for (const auto& [from, to] : parts) {
    EXPECT_GE(from, last);
    last = to;
  }
  EXPECT_LE(last, begin + shape.TotalBytes());
}

// Returns the bytes of the mapping that begins at `at` which this process can use without a fault.
std::size_t MappedBytes(const void* at) {
  std::ifstream mappings("/proc/self/smaps");
  const std::string begin = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(at));
  std::string line;
  while (std::getline(mappings, line) && !line.starts_with(begin)) {
  }
  while (std::getline(mappings, line) && !line.starts_with("Rss:")) {
  }
  return line.empty() ? 0 : std::stoul(line.substr(4)) * 1024;
}

TEST(Arena, OneCallMapsThePostsOfAllRanks) {
  const ArenaShape shape{.ranks = 64};
  const auto mine = Arena::Create(shape);
  ASSERT_TRUE(mine.ok());
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) (*mine)->PrefaultPosts(rank);
  const auto theirs = Arena::Map(CopyOf((*mine)->fd()), shape);
  ASSERT_TRUE(theirs.ok());
  const std::size_t posts_bytes = shape.ranks * kArenaPostsBytes;
  EXPECT_LT(MappedBytes(&(*theirs)->header()), posts_bytes);
  (*theirs)->MapPosts();
  EXPECT_GE(MappedBytes(&(*theirs)->header()), posts_bytes);
}

TEST(Arena, MappingsShareTheirBytes) {
  const ArenaShape shape{.ranks = 2};
  const auto mine = Arena::Create(shape);
  ASSERT_TRUE(mine.ok());
  const auto theirs = Arena::Map(CopyOf((*mine)->fd()), shape);
  ASSERT_TRUE(theirs.ok()) << theirs.error().message;
  (*mine)->PrefaultPosts(1);
  (*mine)->PrefaultStages(1);
  (*mine)->stage(1, 1)[5] = std::byte{42};
  EXPECT_EQ((*theirs)->stage(1, 1)[5], std::byte{42});
}

TEST(Arena, RefusesMemoryOfAnotherShapeOrVersion) {
  const ArenaShape shape{.ranks = 2};
  const auto arena = Arena::Create(shape);
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ(Arena::Map(CopyOf((*arena)->fd()), {.ranks = 3}).error().code, Code::kProtocol);
  EXPECT_EQ(Arena::Map(CopyOf((*arena)->fd()), {.ranks = 0}).error().code, Code::kProtocol);
  EXPECT_FALSE(Arena::Map(os::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC)), shape).ok());

  const auto blank = os::Shm::Create(shape.TotalBytes());
  ASSERT_TRUE(blank.ok());
  EXPECT_EQ(Arena::Map(CopyOf(blank->fd()), shape).error().code, Code::kProtocol);
  (*arena)->header().version = 77;
  const auto newer = Arena::Map(CopyOf((*arena)->fd()), shape);
  ASSERT_FALSE(newer.ok());
  EXPECT_NE(newer.error().message.find("version 77"), std::string::npos);
}

}  // namespace
}  // namespace ringlet::transport
