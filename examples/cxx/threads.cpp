// All-reduce among the threads of one process, one rank per thread.   threads 4
#include <ringlet/communicator.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

// Sets each element to rank + 1, so each sum is 1 + 2 + ... + size.
ringlet::Status RunRank(const ringlet::UniqueId& id, ringlet::Rank rank, std::uint32_t size) {
  RINGLET_TRY_ASSIGN(auto communicator, ringlet::Communicator::Create(id, rank, size));
  const std::vector<float> mine(1000, static_cast<float>(ringlet::Index(rank) + 1));
  std::vector<float> sum(mine.size());
  RINGLET_TRY(communicator.AllReduce(mine, sum));
  const auto expected = static_cast<float>(size * (size + 1) / 2);
  const bool right = sum == std::vector<float>(sum.size(), expected);
  std::printf("rank %u of %u: %s\n", ringlet::Index(rank), size, right ? "ok" : "WRONG");
  if (!right) return ringlet::Error{ringlet::Code::kProtocol, "a wrong sum"};
  return communicator.Destroy();
}

}  // namespace

int main(int argc, char** argv) {
  const auto size = static_cast<std::uint32_t>(argc == 2 ? std::atoi(argv[1]) : 0);
  if (size < 1 || size > 64) {
    std::fprintf(stderr, "usage: %s RANKS (1 to 64)\n", argv[0]);
    return 2;
  }
  const auto id = ringlet::UniqueId::Create();
  if (!id.ok()) {
    std::fprintf(stderr, "%s\n", id.error().message.c_str());
    return 1;
  }
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      const ringlet::Status status = RunRank(*id, ringlet::Rank{rank}, size);
      if (status.ok()) return;
      std::fprintf(stderr, "rank %u: %s\n", rank, status.error().message.c_str());
      failed = true;
    });
  for (std::thread& thread : threads) thread.join();
  return failed ? 1 : 0;
}
