#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace ringlet::transport {
namespace {

os::Fd Duplicate(const os::Fd& fd) {
  return os::Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
}

TEST(Segment, BothSidesSeeTheSamePipesAndDoorbell) {
  const SegmentShape shape{.pipes = 3, .pipe_bytes = 128};
  auto mine = Segment::Create(shape);
  ASSERT_TRUE(mine.ok());
  auto theirs = Segment::Map(Duplicate((*mine)->fd()), shape);
  ASSERT_TRUE(theirs.ok());
  (*mine)->word().value.store(5);
  EXPECT_EQ((*theirs)->word().value.load(), 5u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    (*mine)->Prefault(i);
    (*mine)->Pipe(i).header->written_bytes.store(i + 10);
    (*mine)->Pipe(i).ring.back() = static_cast<std::byte>(i);
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*theirs)->Pipe(i).header->written_bytes.load(), i + 10);
    EXPECT_EQ((*theirs)->Pipe(i).ring.back(), static_cast<std::byte>(i));
    EXPECT_EQ((*theirs)->Pipe(i).ring.size(), 128u);
  }
}

TEST(Segment, RefusesAFalseShape) {
  auto mine = Segment::Create(SegmentShape{.pipes = 2, .pipe_bytes = 64});
  ASSERT_TRUE(mine.ok());
  for (const SegmentShape shape :
       {SegmentShape{3, 64}, SegmentShape{2, 128}, SegmentShape{0, 64}, SegmentShape{2, 65},
        SegmentShape{~0u, kPipeBytesMax}, SegmentShape{2, ~std::uint64_t{0}}}) {
    const auto mapped = Segment::Map(Duplicate((*mine)->fd()), shape);
    ASSERT_FALSE(mapped.ok());
    EXPECT_EQ(mapped.error().code, Code::kProtocol);
  }
}

}  // namespace
}  // namespace ringlet::transport
