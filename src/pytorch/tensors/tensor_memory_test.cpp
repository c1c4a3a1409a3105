#include "pytorch/tensors/tensor_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "comm/establish/ranks_for_test.hpp"
#include "comm/run/calls.hpp"
#include "pytorch/group/group.hpp"
#include "pytorch/store/store_for_test.hpp"

namespace ringlet::torch_api {
namespace {

constexpr std::size_t kBytes = 300'000;

TEST(TensorMemory, RecognizesItsOwnAddresses) {
  TensorMemory memory;
  const std::byte outside{};
  EXPECT_FALSE(memory.Has({&outside, 1}));
  auto begin = memory.Allocate(kBytes);
  ASSERT_TRUE(begin.ok()) << begin.error().message;
  EXPECT_TRUE(memory.Has({*begin, kBytes}));
  EXPECT_TRUE(memory.Has({*begin + kBytes - 1, 1}));
  EXPECT_FALSE(memory.Has({*begin, kBytes * 2}));
  EXPECT_FALSE(memory.Has({*begin - 1, 1}));
  EXPECT_FALSE(memory.Has({&outside, 1}));
}

TEST(TensorMemory, ReusesAFreedBlockOfTheSameSize) {
  TensorMemory memory;
  std::byte* const first = memory.Allocate(kBytes).value();
  memory.Free(first);
  EXPECT_EQ(memory.kept(), 1u);
  std::byte* const other = memory.Allocate(kBytes * 3).value();
  EXPECT_NE(other, first);
  EXPECT_EQ(memory.Allocate(kBytes - 1).value(), first);
  EXPECT_EQ(memory.kept(), 0u);
}

TEST(TensorMemory, KeepsALimitedNumberAndDropsTheOldest) {
  TensorMemory memory;
  std::vector<std::byte*> all;
  for (std::size_t i = 0; i < TensorMemory::kKeptMax + 3; ++i)
    all.push_back(memory.Allocate(kBytes).value());
  for (std::byte* const each : all) memory.Free(each);
  EXPECT_EQ(memory.kept(), TensorMemory::kKeptMax);
  EXPECT_FALSE(memory.Has({all[2], 1}));
  EXPECT_TRUE(memory.Has({all[3], 1}));
}

TEST(TensorMemory, RefusesAnImpossibleSize) {
  TensorMemory memory;
  EXPECT_EQ(memory.Allocate(SIZE_MAX).error().code, Code::kSystem);
}

TEST(TensorMemory, AForkedChildDoesNotFreeBlocksOfItsParent) {
  std::byte* const memory = TensorMemory::The().Allocate(kBytes).value();
  *memory = std::byte{7};
  const pid_t child = ::fork();
  if (child == 0) {
    TensorMemory::The().Free(memory);
    ::_exit(TensorMemory::The().Has({memory, 1}) || TensorMemory::The().kept() != 0 ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*memory, std::byte{7});
  TensorMemory::The().Free(memory);
  TensorMemory::The().Trim();
  EXPECT_EQ(TensorMemory::The().kept(), 0u);
}

/// Number of shared-memory descriptors of this process.
std::size_t SharedFiles() {
  std::size_t count = 0;
  std::error_code gone;  // listing the folder opens its own descriptor
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    count += std::filesystem::read_symlink(entry.path(), gone).string().starts_with("/memfd:");
  return count;
}

// Sums over two ranks in such memory, then frees the memory before the communicator ends.
TEST(Announcements, EndWithTheMemoryOrTheGroup) {
  const auto store = std::make_shared<MemoryStore>();
  const auto rank_of = [&](std::uint32_t rank) {
    RankGroup group({.rank = rank,
                     .size = 2,
                     .name = "test",
                     .timeout = std::chrono::seconds(30),
                     .init_timeout = std::chrono::seconds(30)},
                    store);
    TensorMemory& memory = TensorMemory::The();
    for (std::size_t round = 0; round < 2 * TensorMemory::kKeptMax; ++round) {
      std::byte* const begin = memory.Allocate(kBytes + round * 100'000).value();
      const std::span<float> values(reinterpret_cast<float*>(begin), kBytes / 4);
      std::ranges::fill(values, static_cast<float>(rank + 1));
      const View all{begin, values.size_bytes()};
      group.serial_executor().RunHere([&] {
        auto main = group.Main();
        ASSERT_TRUE(main.ok()) << main.error().message;
        group.Announce(all);
        collective::Call call;
        call.input = all;
        call.output = {begin, all.size()};
        call.count = values.size();
        const Status status = comm::AllReduce(**main, call);
        ASSERT_TRUE(status.ok()) << status.error().message;
      });
      EXPECT_EQ(std::count(values.begin(), values.end(), 3.0F),
                static_cast<std::ptrdiff_t>(values.size()));
      memory.Free(begin);
    }
    EXPECT_LT(SharedFiles(), TensorMemory::kKeptMax + 8) << "beside the communicator's own";
  };
  std::thread other(rank_of, 1);
  rank_of(0);
  other.join();
  TensorMemory::The().Trim();
}

}  // namespace
}  // namespace ringlet::torch_api
