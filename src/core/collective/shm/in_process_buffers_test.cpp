#include "collective/shm/in_process_buffers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ringlet::collective {
namespace {

TEST(InProcessBuffers, CloseWaitsForReaders) {
  InProcessBuffers buffers(2);
  buffers.Open(0, {});
  std::atomic<bool> inside{false}, left{false};
  std::thread visitor([&] {
    const InProcessBuffers::Visit visit(buffers, {0});
    EXPECT_TRUE(visit.granted());
    inside = true;
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    left = true;
  });
  while (!inside) std::this_thread::yield();
  buffers.Close(0);
  EXPECT_TRUE(left);
  visitor.join();
  EXPECT_FALSE(InProcessBuffers::Visit(buffers, {0}).granted());
}

TEST(InProcessBuffersTable, RanksOfACommunicatorFindEachOthersBuffers) {
  InProcessBuffersTable table;
  const Secret one{std::byte{1}}, other{std::byte{2}};
  auto buffers = table.Of(one, 2);
  EXPECT_EQ(table.Of(one, 2), buffers);
  EXPECT_NE(table.Of(other, 2), buffers);
  const std::weak_ptr<InProcessBuffers> known = buffers;
  buffers.reset();
  EXPECT_TRUE(known.expired()) << "they are its ranks'";
  EXPECT_TRUE(table.Of(one, 2));
}

}  // namespace
}  // namespace ringlet::collective
