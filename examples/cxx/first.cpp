// A first communicator: each rank gives its number and gets the sum of all.
//
//   ringlet run -n 4 ./first      starts four ranks; each finds its number in RANK
#include <ringlet/communicator.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

std::uint32_t NumberIn(const char* variable, std::uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? static_cast<std::uint32_t>(std::atoi(text)) : otherwise;
}

ringlet::Status Run(std::uint32_t rank, std::uint32_t ranks) {
  RINGLET_TRY_ASSIGN(const auto id, ringlet::UniqueId::Create());  // no exchange: ringlet run
  RINGLET_TRY_ASSIGN(auto communicator,
                     ringlet::Communicator::Create(id, ringlet::Rank{rank}, ranks));
  const std::vector<float> mine(1, static_cast<float>(rank));
  std::vector<float> sum(1);
  RINGLET_TRY(communicator.AllReduce(mine, sum));
  std::printf("rank %u of %u: the sum is %g\n", rank, ranks, static_cast<double>(sum[0]));
  return communicator.Destroy();  // or leave it to the destructor
}

}  // namespace

int main() {
  const ringlet::Status status = Run(NumberIn("RANK", 0), NumberIn("WORLD_SIZE", 1));
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
