#include "tool/sim/sim_progress.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

TEST(SimProgressTest, PrintsALineAfterAWhile) {
  const SimOptions options = ParseSimOptions({}).value();
  SimWorld world = SimWorld::Build(options, 2).value();
  SimProgress progress(std::chrono::seconds(10));
  testing::internal::CaptureStderr();
  for (const int now : {10, 11, 12, 13})
    progress.OnTick(world, std::chrono::seconds(now),
                    [&] { return "; at " + std::to_string(now); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "ringlet sim: 2 ranks: 0.0 M events, 0 us simulated; at 12\n");
}

TEST(SimProgressTest, ThisProcessHasMemory) {
  EXPECT_GT(MemoryBytes(), 1'000'000u);
}

}  // namespace
}  // namespace ringlet::cli
