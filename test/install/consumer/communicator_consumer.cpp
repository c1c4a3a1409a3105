// A C++17 program on the installed headers: ranks of one thread sum, gather and part.
#include <ringlet/communicator.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

ringlet::Status Run() {
  ringlet::CommunicatorOptions options;
  options.timeout = std::chrono::seconds(30);
  options.environment["RINGLET_DEBUG"] = "WARN";
  RINGLET_TRY_ASSIGN(auto ranks, ringlet::Communicator::CreateAll(2, options));
  const std::array<float, 3> mine = {1.0f, 2.0f, 3.0f};
  std::vector<std::vector<float>> sums(2, std::vector<float>(3)), all(2, std::vector<float>(6));
  ringlet::Group group;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    group.AllReduce(ranks[i], mine, sums[i]);
    group.AllGather(ranks[i], mine, all[i]);
  }
  RINGLET_TRY(group.End());
  if (sums[1] != std::vector<float>{2.0f, 4.0f, 6.0f} || all[0][5] != 3.0f)
    return ringlet::Error{ringlet::Code::kProtocol, "a wrong result"};
  const ringlet::Status refused = ranks[0].AllGather(mine, sums[0]);
  if (refused.ok() || refused.error().code != ringlet::Code::kInvalidArgument)
    return ringlet::Error{ringlet::Code::kProtocol, "a wrong length was not refused"};
  for (ringlet::Communicator& rank : ranks) RINGLET_TRY(rank.Destroy());

  RINGLET_TRY_ASSIGN(const auto id, ringlet::UniqueId::Create());
  RINGLET_TRY_ASSIGN(const auto copy, ringlet::UniqueId::FromText(id.ToText()));
  RINGLET_TRY_ASSIGN(auto alone, ringlet::Communicator::Create(copy, ringlet::Rank{0}, 1));
  return alone.Barrier();
}

}  // namespace

int main() {
  const ringlet::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
