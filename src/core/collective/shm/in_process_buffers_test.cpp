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

}  // namespace
}  // namespace ringlet::collective
