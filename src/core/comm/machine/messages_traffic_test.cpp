// The bytes of collectives that use messages, and of messages to peers without a link yet.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "comm/machine/machines_for_test.hpp"

namespace ringlet::comm {
namespace {

using nlohmann::json;

constexpr std::uint32_t kRanksOfTwoHosts = 8;
constexpr std::size_t kElementsOfBlock = 999;
constexpr std::uint64_t kBytesOfBlock = kElementsOfBlock * sizeof(float);

class MessagesTrafficTest : public OnMachine {
 protected:
  /// Returns the files of eight ranks on two hosts, by rank.
  std::map<std::uint32_t, json> LeftBy(const std::function<void(Communicator&)>& body) const {
    RunOn(2, kRanksOfTwoHosts, {{"RINGLET_TRAFFIC_DIR", PathOf("traffic")}},
          [&](std::uint32_t, auto communicator) {
            ASSERT_TRUE(communicator.ok()) << communicator.error().message;
            body(**communicator);
          });
    std::map<std::uint32_t, json> left;
    for (const auto& entry : std::filesystem::directory_iterator(PathOf("traffic"))) {
      json file = json::parse(std::ifstream(entry.path()));
      left.emplace(file["rank"].get<std::uint32_t>(), std::move(file));
    }
    return left;
  }
};

/// Returns the bytes on the first link of each route. Both figures are the same on every link.
std::uint64_t SentOverFirstLinks(const json& file) {
  std::uint64_t bytes = 0;
  for (const json& link : file["links"]) {
    EXPECT_EQ(link["measured_bytes"], link["planned_bytes"]) << file["rank"] << link;
    if (link["host"] == file["host_identity"] && link["from"] == file["gpu"])
      bytes += link["measured_bytes"].get<std::uint64_t>();
  }
  return bytes;
}

TEST_F(MessagesTrafficTest, RanksOfCollectivesWithoutRingsSendEachBlockOnce) {
  const Rank root{3};
  for (const CallKind kind : {CallKind::kAllToAll, CallKind::kGather, CallKind::kScatter}) {
    const auto left = LeftBy([&](Communicator& communicator) {
      Call call{.kind = kind, .count = kElementsOfBlock, .root = root};
      std::vector<float> in(InputCount(call, communicator.place())),
          out(OutputCount(call, communicator.place()));
      call.input = std::as_bytes(std::span(in));
      call.output = std::as_writable_bytes(std::span(out));
      EXPECT_TRUE(communicator.Run(call).ok());
    });
    ASSERT_EQ(left.size(), kRanksOfTwoHosts);
    for (const auto& [rank, file] : left) {
      const bool is_root = Rank{rank} == root;
      const std::uint64_t blocks = kind == CallKind::kGather ? (is_root ? 0 : 1)
                                   : kind == CallKind::kScatter
                                       ? (is_root ? kRanksOfTwoHosts - 1 : 0)
                                       : kRanksOfTwoHosts - 1;
      EXPECT_EQ(SentOverFirstLinks(file), blocks * kBytesOfBlock)
          << Name(kind) << " of rank " << rank;
      EXPECT_EQ(file["calls"][0]["calls"], 1);
    }
    for (const auto& entry : std::filesystem::directory_iterator(PathOf("traffic")))
      std::filesystem::remove(entry.path());
  }
}

TEST_F(MessagesTrafficTest, PortionsOfEachPairAreCounted) {
  const auto left = LeftBy([](Communicator& communicator) {
    const std::uint32_t self = Index(communicator.identity().rank);
    AllToAllVCall call{.type = DataType::kFloat32};
    // Each sender's count is its rank plus one.
    std::size_t received = 0;
    for (std::uint32_t rank = 0; rank < kRanksOfTwoHosts; ++rank) {
      call.sent.counts.push_back(self + 1);
      call.sent.displacements.push_back(rank * (self + 1));
      call.received.counts.push_back(rank + 1);
      call.received.displacements.push_back(received);
      received += rank + 1;
    }
    std::vector<float> in(kRanksOfTwoHosts * (self + 1)), out(received);
    call.input = std::as_bytes(std::span(in));
    call.output = std::as_writable_bytes(std::span(out));
    EXPECT_TRUE(communicator.Run(call).ok());
  });
  ASSERT_EQ(left.size(), kRanksOfTwoHosts);
  for (const auto& [rank, file] : left)
    EXPECT_EQ(SentOverFirstLinks(file), (kRanksOfTwoHosts - 1) * (rank + 1) * sizeof(float))
        << rank;
}

TEST_F(MessagesTrafficTest, CountsMessagesThatWaitForTheirLinkOnce) {
  const auto left = LeftBy([](Communicator& communicator) {
    const std::uint32_t self = Index(communicator.identity().rank);
    std::vector<float> in(kElementsOfBlock), out(kElementsOfBlock);
    const Rank peer{(self + kRanksOfTwoHosts / 2) %
                    kRanksOfTwoHosts};  // on the other host, and not a neighbour in a ring
    const Transfer transfers[] = {
        {.peer = peer,
         .sends = true,
         .from = std::as_bytes(std::span(out)),
         .count = kElementsOfBlock},
        {.peer = peer, .to = std::as_writable_bytes(std::span(in)), .count = kElementsOfBlock}};
    EXPECT_TRUE(communicator.Run(transfers).ok());
  });
  ASSERT_EQ(left.size(), kRanksOfTwoHosts);
  for (const auto& [rank, file] : left) {
    EXPECT_EQ(SentOverFirstLinks(file), kBytesOfBlock) << rank;
    EXPECT_EQ(file["calls"][0]["calls"], 1);
  }
}

}  // namespace
}  // namespace ringlet::comm
