// Ranks split into two rows, and each row sums by itself. Then one rank fails, and the others
// continue without it. Shows the contents of errors and the possible reactions.   split
#include <ringlet/communicator.hpp>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::uint32_t kSize = 6;
constexpr ringlet::Rank kLost{4};  // the failing rank

ringlet::Status Sum(ringlet::Communicator& communicator, int expected) {
  int sum = 1;
  RINGLET_TRY(communicator.AllReduce(ringlet::SendBuffer(&sum, 1, ringlet::DataType::kInt32),
                                     ringlet::ReceiveBuffer(&sum, 1, ringlet::DataType::kInt32)));
  if (sum == expected) return ringlet::Ok();
  return ringlet::Error{ringlet::Code::kProtocol, "the sum is " + std::to_string(sum)};
}

// The call checks lengths before it sends data, so the communicator still works.
bool RefusesWrongLengths(ringlet::Communicator& communicator) {
  const std::vector<double> mine(2);
  std::vector<double> all(7);
  const ringlet::Status status = communicator.AllGather(mine, all);
  if (status.ok() || status.error().code != ringlet::Code::kInvalidArgument) return false;
  if (communicator.rank() == ringlet::Rank{0})
    std::printf("refused: %s\n", status.error().message.c_str());
  return true;
}

// The rank kLost receives from all others and gives up. Each of the others gets that error from its
// current call: the gather or the barrier.
ringlet::Status WorkUntilOneIsLost(ringlet::Communicator& world) {
  const std::vector<int> mine = {1};
  std::vector<int> all(kSize);
  RINGLET_TRY(world.Gather(mine, all, kLost));
  if (world.rank() == kLost) world.Abort("the disk is full");
  return world.Barrier();
}

ringlet::Status RunRank(ringlet::Communicator world) {
  const std::uint32_t rank = ringlet::Index(world.rank());
  RINGLET_TRY_ASSIGN(auto row, world.Split(static_cast<std::int32_t>(rank / 3)));
  RINGLET_TRY(Sum(row, 3));
  if (!RefusesWrongLengths(world))
    return ringlet::Error{ringlet::Code::kProtocol, "a wrong length was not refused"};

  const ringlet::Status status = WorkUntilOneIsLost(world);
  if (status.ok()) return ringlet::Error{ringlet::Code::kProtocol, "the abort was not noticed"};
  if (status.error().code != ringlet::Code::kAborted) return status;
  if (world.rank() == kLost) return ringlet::Ok();
  if (rank == 0) std::printf("aborted: %s\n", status.error().message.c_str());

  RINGLET_TRY_ASSIGN(auto rest, world.Shrink({kLost}));
  RINGLET_TRY(Sum(rest, static_cast<int>(kSize) - 1));
  if (rank == 0) std::printf("%u ranks go on: ok\n", rest.size());
  return rest.Destroy();
}

}  // namespace

int main() {
  auto world = ringlet::Communicator::CreateAll(kSize);
  if (!world.ok()) {
    std::fprintf(stderr, "%s\n", world.error().message.c_str());
    return 1;
  }
  std::vector<ringlet::Status> outcomes(kSize, ringlet::Ok());
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < kSize; ++rank)
    threads.emplace_back([&outcomes, rank, mine = std::move((*world)[rank])]() mutable {
      outcomes[rank] = RunRank(std::move(mine));
    });
  for (std::thread& thread : threads) thread.join();
  bool ok = true;
  for (const ringlet::Status& outcome : outcomes) {
    if (outcome.ok()) continue;
    std::fprintf(stderr, "%s\n", outcome.error().message.c_str());
    ok = false;
  }
  return ok ? 0 : 1;
}
