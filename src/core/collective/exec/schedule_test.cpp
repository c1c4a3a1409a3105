#include "collective/exec/schedule.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

TEST(EvenChunk, CoversEverythingInOrderAndEvenly) {
  for (std::size_t chunks = 1; chunks <= 9; ++chunks) {
    for (std::size_t count = 0; count <= 40; ++count) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < chunks; ++i) {
        const Range chunk = EvenChunk(count, chunks, i);
        EXPECT_EQ(chunk.begin, next);
        EXPECT_GE(chunk.count, count / chunks);
        EXPECT_LE(chunk.count, count / chunks + 1);
        next = chunk.end();
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(Schedule, PrintsAStepPerLine) {
  Schedule schedule{.input_count = 48, .output_count = 48, .scratch_count = 16};
  schedule.Send(Rank{2}, Input(), 16).channel = 1;
  schedule.Receive(Rank{0}, Output(16), 16);
  schedule.ReceiveReduce(Rank{3}, Input(32), Output(32), 16).finishes = true;
  schedule.Copy(Input(), Scratch(), 8);
  schedule.Reduce(Scratch(), Output(8), 8).swapped = true;
  EXPECT_EQ(ToText(schedule),
            "48 elements in, 48 out, 16 of scratch, 5 steps\n"
            "   0  send 16 elements at input 0 to rank 2 on channel 1\n"
            "   1  receive 16 elements from rank 0 on channel 0 into output 16\n"
            "   2  receive 16 elements from rank 3 on channel 0, reduced with input 32 into output "
            "32, finishes\n"
            "   3  copy 8 elements at input 0 to scratch 0\n"
            "   4  reduce 8 elements at scratch 0 into output 8, operands swapped\n");
}

}  // namespace
}  // namespace ringlet::collective
