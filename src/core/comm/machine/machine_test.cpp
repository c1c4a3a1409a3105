#include "comm/machine/machine.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <numeric>
#include <sstream>

#include "comm/establish/split.hpp"
#include "comm/machine/machines_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsNull;
using testing::NotNull;

class GpuMachineTest : public OnMachine {};

/// Runs and checks one of each collective with `count` elements.
Status RunEach(Communicator& communicator, std::size_t count) {
  const std::uint32_t ranks = communicator.identity().size;
  const auto self = static_cast<std::int64_t>(Index(communicator.identity().rank));
  const std::int64_t sum = ranks * (ranks + 1) / 2;
  const auto call = [&](const std::vector<std::int64_t>& in, std::vector<std::int64_t>& out,
                        Rank root = {}) {
    return Call{.input = std::as_bytes(std::span(in)),
                .output = std::as_writable_bytes(std::span(out)),
                .count = count,
                .type = DataType::kInt64,
                .root = root};
  };
  const std::vector<std::int64_t> mine(count, self + 1), many(count * ranks, self + 1);
  std::vector<std::int64_t> one(count), all(count * ranks);
  const Rank root{ranks - 1};
  const bool is_root = communicator.identity().rank == root;
  RINGLET_TRY(AllReduce(communicator, call(mine, one)));
  EXPECT_THAT(one, Each(sum));
  RINGLET_TRY(Broadcast(communicator, call(mine, one, root)));
  EXPECT_THAT(one, Each(ranks));
  RINGLET_TRY(Reduce(communicator, call(mine, one, root)));
  if (is_root) {
    EXPECT_THAT(one, Each(sum));
  }
  RINGLET_TRY(AllGather(communicator, call(mine, all)));
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i], static_cast<std::int64_t>(i / count + 1));
  RINGLET_TRY(ReduceScatter(communicator, call(many, one)));
  EXPECT_THAT(one, Each(sum));
  RINGLET_TRY(AllToAll(communicator, call(many, all)));
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i], static_cast<std::int64_t>(i / count + 1));
  return Barrier(communicator);
}

TEST_F(GpuMachineTest, ItsRanksRunEveryCollectiveOnItsChannels) {
  for (const std::uint32_t hosts : {1u, 2u}) {
    RunOn(hosts, 4 * hosts, {}, [&](std::uint32_t, auto communicator) {
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      ASSERT_THAT((*communicator)->backend().machine(), NotNull());
      EXPECT_FALSE((*communicator)->host_memory().IsHere());
      EXPECT_EQ((*communicator)->backend().machine()->gpus().nodes.size(), hosts);
      for (const std::size_t count : {1u, 7u, 100'000u}) {
        const Status status = RunEach(**communicator, count);
        EXPECT_TRUE(status.ok()) << status.error().message;
      }
    });
  }
}

TEST_F(GpuMachineTest, AveragesAndScalarsAreCorrect) {
  RunOn(1, 3, {}, [](std::uint32_t rank, auto communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    const float mine = static_cast<float>(rank), two = 2;
    float average = 0, scaled = 0;
    const auto call = [&](float& out, ReduceOp op) {
      return Call{.input = View(reinterpret_cast<const std::byte*>(&mine), 4),
                  .output = {reinterpret_cast<std::byte*>(&out), 4},
                  .count = 1,
                  .op = op,
                  .scalar_at = reinterpret_cast<const std::byte*>(&two)};
    };
    EXPECT_TRUE(AllReduce(**communicator, call(average, ReduceOp::kAvg)).ok());
    EXPECT_EQ(average, 1);
    EXPECT_TRUE(AllReduce(**communicator, call(scaled, ReduceOp::kPreMulSum)).ok());
    EXPECT_EQ(scaled, 6);
  });
}

TEST_F(GpuMachineTest, VariablesOfNcclChooseAlgorithmAndProtocol) {
  const auto way = [&](const EnvMap& environment, std::size_t count) {
    MachineAlgorithm found;
    RunOn(1, 2, environment, [&](std::uint32_t rank, auto communicator) {
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      const auto its = (*communicator)->backend().machine()->AlgorithmNamesOf({.count = count});
      ASSERT_TRUE(its.ok()) << its.error().message;
      if (rank == 0) found = *its;
      EXPECT_TRUE(SumOfRanks(**communicator, count).ok());
    });
    return found;
  };
  EXPECT_EQ(way({{"NCCL_ALGO", "Tree"}}, 1000).carriage, plan::TransferPurpose::kTree);
  EXPECT_EQ(way({{"NCCL_ALGO", "Ring"}}, 1000).carriage, plan::TransferPurpose::kRing);
  EXPECT_EQ(way({{"NCCL_PROTO", "LL"}}, 1000).pick->protocol, plan::Protocol::kLl);
  EXPECT_EQ(way({{"NCCL_MAX_NCHANNELS", "2"}, {"NCCL_PROTO", "Simple"}}, 4 << 20).channels, 2u);
  EXPECT_GT(way({{"NCCL_PROTO", "Simple"}}, 4 << 20).channels, 2u);
}

TEST_F(GpuMachineTest, ReportsNvlsIfNcclWouldChooseIt) {
  files_.Write(
      "hopper.xml",
      ToXml(topology::ParseSynthetic("2x(numa: 4x(switch: 1 gpu h100-sxm5 switch, 1 nic 400g))")
                .value()));
  RunOn(1, 8, {{"RINGLET_MACHINE", PathOf("hopper.xml")}}, [](std::uint32_t, auto communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    const auto way = (*communicator)->backend().machine()->AlgorithmNamesOf({.count = 64 << 20});
    ASSERT_TRUE(way.ok());
    EXPECT_EQ(way->carriage, plan::TransferPurpose::kRing);
    ASSERT_TRUE(way->nccl_pick);
    EXPECT_EQ(way->nccl_pick->algorithm, plan::NcclAlgorithm::kNvls);
    EXPECT_TRUE(SumOfRanks(**communicator, 1000).ok());
  });
}

TEST_F(GpuMachineTest, RefusesAlgorithmsOtherThanRingAndTree) {
  RunOn(1, 2, {{"NCCL_ALGO", "allreduce:NVLS"}}, [](std::uint32_t, auto communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    const Status status = SumOfRanks(**communicator, 10);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.error().message, HasSubstr("NCCL_ALGO"));
  });
}

TEST_F(GpuMachineTest, MoreRanksThanGpusAreRefused) {
  RunOn(1, 5, {}, [](std::uint32_t, auto communicator) {
    ASSERT_FALSE(communicator.ok());
    EXPECT_THAT(communicator.error().message, HasSubstr("rank 4 is on device 4"));
  });
}

TEST_F(GpuMachineTest, RefusesTwoRanksOnAGpu) {
  RunRanks(
      2,
      [&](std::uint32_t) {
        return ProcessOn("a", {{"RINGLET_LOCAL_RANK", "1"}});
      },
      [](std::uint32_t, auto communicator) {
        ASSERT_FALSE(communicator.ok());
        EXPECT_THAT(communicator.error().message, HasSubstr("GPU"));
      });
}

TEST_F(GpuMachineTest, NamesAMissingFile) {
  RunOn(1, 2, {{"RINGLET_MACHINE", "/nowhere/machine.xml"}}, [](std::uint32_t, auto communicator) {
    ASSERT_FALSE(communicator.ok());
    EXPECT_THAT(communicator.error().message, HasSubstr("/nowhere/machine.xml"));
  });
}

TEST_F(GpuMachineTest, AFileOfSeveralHostsIsRefused) {
  topology::HostView view = topology::ParseSynthetic(kFourGpus).value();
  view.numa_nodes.back().host = view.identity + 1;
  files_.Write("hosts.xml", ToXml(view));
  RunOn(1, 1, {{"RINGLET_MACHINE", PathOf("hosts.xml")}}, [](std::uint32_t, auto communicator) {
    ASSERT_FALSE(communicator.ok());
    EXPECT_THAT(communicator.error().message, HasSubstr("hosts.xml holds several hosts"));
  });
}

TEST_F(GpuMachineTest, PlansTheChildrenOfACommunicator) {
  // Alternates ranks of two hosts, because a child's ranks may be anywhere.
  RunOn(2, 8, {}, [&](std::uint32_t rank, auto communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    auto child = Split(**communicator, static_cast<std::int32_t>(rank % 2),
                       10 - static_cast<std::int32_t>(rank % 4), {});
    ASSERT_TRUE(child.ok()) << child.error().message;
    ASSERT_THAT(*child, NotNull());
    EXPECT_EQ((*child)->backend().machine()->gpus().channels().rank_count(), 4u);
    EXPECT_EQ((*child)->backend().machine()->gpus().nodes.size(), 2u);
    const Status status = RunEach(**child, 1000);
    EXPECT_TRUE(status.ok()) << status.error().message;
  });
}

TEST_F(GpuMachineTest, DumpsAndFollowsGraphs) {
  std::vector<Rank> ring;
  RunOn(1, 4, {{"NCCL_GRAPH_DUMP_FILE", PathOf("graph.xml")}},
        [&](std::uint32_t rank, auto communicator) {
          ASSERT_TRUE(communicator.ok()) << communicator.error().message;
          if (rank == 0) ring = (*communicator)->plan().Ring(0);
        });
  RunOn(1, 4, {{"NCCL_GRAPH_FILE", PathOf("graph.xml")}}, [&](std::uint32_t, auto communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    EXPECT_EQ((*communicator)->plan().Ring(0), ring);
    EXPECT_TRUE(SumOfRanks(**communicator, 100).ok());
  });
}

TEST_F(GpuMachineTest, WithoutAMachineRanksUseCpuMemory) {
  RunRanks(2, EnvMap{}, [](std::uint32_t, auto communicator) {
    ASSERT_TRUE(communicator.ok());
    EXPECT_THAT((*communicator)->backend().machine(), IsNull());
  });
}

}  // namespace
}  // namespace ringlet::comm
