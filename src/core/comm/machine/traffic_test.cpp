#include "comm/machine/traffic.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "comm/machine/machines_for_test.hpp"

namespace ringlet::comm {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::SizeIs;

class TrafficTest : public OnMachine {
 protected:
  std::vector<json> FilesLeft() const {
    std::vector<json> left;
    for (const auto& entry : std::filesystem::directory_iterator(PathOf("traffic")))
      left.push_back(json::parse(std::ifstream(entry.path())));
    return left;
  }
  /// Runs `body` on so many ranks on two hosts. Returns their files.
  std::vector<json> LeftBy(std::uint32_t ranks, const EnvMap& more,
                           const std::function<void(Communicator&)>& body) const {
    EnvMap environment = more;
    environment["RINGLET_TRAFFIC_DIR"] = PathOf("traffic");
    RunOn(2, ranks, environment, [&](std::uint32_t, auto communicator) {
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      body(**communicator);
    });
    return FilesLeft();
  }
};

/// Returns all bytes that left GPUs: those on the first link of each route.
std::uint64_t BytesThatLeft(const std::vector<json>& files, const char* which) {
  std::uint64_t bytes = 0;
  for (const json& file : files)
    for (const json& link : file["links"])
      if (link["from"].get<std::string>().starts_with("DEV/"))
        bytes += link[which].get<std::uint64_t>();
  return bytes;
}

void ExpectAsPlanned(const std::vector<json>& files) {
  for (const json& file : files)
    for (const json& link : file["links"])
      EXPECT_EQ(link["measured_bytes"], link["planned_bytes"]) << file["rank"] << " " << link;
}

TEST_F(TrafficTest, AnAllReduceMovesTheBytesOfItsAlgorithm) {
  constexpr std::size_t kCount = 12'345;
  for (const char* const algorithm : {"Ring", "Tree"}) {
    const auto files = LeftBy(8, {{"NCCL_ALGO", algorithm}}, [](Communicator& communicator) {
      EXPECT_TRUE(SumOfRanks(communicator, kCount).ok());
    });
    ASSERT_THAT(files, SizeIs(testing::Ge(8u)));
    ExpectAsPlanned(files);
    for (const json& file : files) {
      EXPECT_EQ(file["ranks"], 8);
      ASSERT_THAT(file["calls"], SizeIs(1));
      EXPECT_EQ(file["calls"][0]["algorithm"], algorithm);
      EXPECT_GT(file["calls"][0]["predicted_ns"], 0);
    }
    // Data passes both ways. Data that arrives through a NIC does not leave a GPU's device.
    EXPECT_EQ(BytesThatLeft(files, "measured_bytes"), 2u * 7 * kCount * 4);
    for (const auto& entry : std::filesystem::directory_iterator(PathOf("traffic")))
      std::filesystem::remove(entry.path());
  }
}

TEST_F(TrafficTest, MessagesAreCountedByTheirPeers) {
  constexpr std::size_t kCount = 1000;
  const auto files = LeftBy(4, {}, [](Communicator& communicator) {
    const std::uint32_t self = Index(communicator.identity().rank);
    std::vector<float> out(kCount), in(kCount);
    const Transfer transfers[] = {{.peer = Rank{(self + 1) % 4},
                                   .sends = true,
                                   .from = std::as_bytes(std::span(out)),
                                   .count = kCount},
                                  {.peer = Rank{(self + 3) % 4},
                                   .to = std::as_writable_bytes(std::span(in)),
                                   .count = kCount}};
    EXPECT_TRUE(communicator.Run(transfers).ok());
  });
  ExpectAsPlanned(files);
  // Two of the four messages cross hosts to a GPU of another number: they first move to the GPU of
  // that number on their own host.
  EXPECT_EQ(BytesThatLeft(files, "measured_bytes"), (4 + 2) * kCount * 4);
}

TEST_F(TrafficTest, FailedCallsShowFewerMeasuredThanPlannedBytes) {
  const auto machine = [&] {
    std::shared_ptr<const GpuMachine> its;
    RunOn(1, 2, {}, [&](std::uint32_t rank, auto communicator) {
      ASSERT_TRUE(communicator.ok());
      if (rank == 0) its = GpuMachine::Plan({}, (*communicator)->peer_table(), {}).value();
    });
    return its;
  }();
  MachineTraffic traffic(machine, Rank{0});
  const Call call{.count = 1000};
  traffic.Began(call, {Rank{0}, 2}, machine->AlgorithmNamesOf(call).value());
  const json file = json::parse(traffic.ToJson(7, "a"));
  EXPECT_EQ(file["host"], "a");
  EXPECT_EQ(BytesThatLeft({file}, "measured_bytes"), 0u);
  EXPECT_EQ(BytesThatLeft({file}, "planned_bytes"), 4000u);
}

}  // namespace
}  // namespace ringlet::comm
