// Plans over one to eight hosts of every machine of test/fixtures/topo-vectors: every ring visits
// every rank once, every tree spans them, and no link exceeds its capacity.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "plan/channels/join.hpp"
#include "plan/channels/tree_parents_for_test.hpp"
#include "plan/policy/host_search.hpp"
#include "topology/paths/trim.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::plan {
namespace {

using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;
using topology::Paths;

constexpr std::uint32_t kHostsMax = 8;

std::vector<std::string> Machines() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(RINGLET_FIXTURES) + "/topo-vectors"))
    if (entry.path().extension() == ".xml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The load of each link by the rings of a plan, in MB/s.
class Loads {
 public:
  explicit Loads(const Paths& paths) : paths_(paths) {}

  void Add(NodeIndex from, NodeIndex to, std::uint64_t mb_per_s) {
    if (from == to) return;
    for (const topology::Hop& hop : paths_.Route(from, to)) {
      loads_[{hop.from, hop.to}] += mb_per_s;
      room_[{hop.from, hop.to}] = hop.bandwidth.mb_per_s;
    }
  }

  std::string Overfull() const {
    for (const auto& [link, load] : loads_)
      // Channels have one speed. Division loses less than a MB/s per channel.
      if (load > room_.at(link) + kChannelsMax)
        return fmt::format("{} to {} carries {} of {} MB/s", NcclName(paths_.graph(), link.first),
                           NcclName(paths_.graph(), link.second), load, room_.at(link));
    return "";
  }

 private:
  using Link = std::pair<NodeIndex, NodeIndex>;
  const Paths& paths_;
  std::map<Link, std::uint64_t> loads_, room_;
};

std::string OverfullByRings(const Paths& paths, const PatternGraph& ring) {
  Loads loads(paths);
  const auto& gpus = paths.Of(NodeKind::kGpu);
  const auto& nets = paths.Of(NodeKind::kNet);
  for (const LocalChannel& channel : ring.channels) {
    for (std::size_t i = 0; i + 1 < channel.devices.size(); ++i)
      loads.Add(gpus[channel.devices[i]], gpus[channel.devices[i + 1]], ring.intra.mb_per_s);
    const NodeIndex first = gpus[channel.devices.front()], last = gpus[channel.devices.back()];
    if (channel.entry) loads.Add(nets[*channel.entry], first, ring.inter.mb_per_s);
    if (channel.exit) loads.Add(last, nets[*channel.exit], ring.inter.mb_per_s);
    if (!channel.entry) loads.Add(last, first, ring.intra.mb_per_s);
  }
  return loads.Overfull();
}

void ExpectTreesSpan(const ChannelPlan& plan) {
  for (std::uint32_t channel = 0; channel < plan.channel_count(); ++channel) {
    const auto parents = TreeParents(plan, channel);
    EXPECT_EQ(std::count(parents.begin(), parents.end(), std::nullopt), 1);
    for (std::uint32_t rank = 0; rank < plan.rank_count(); ++rank) {
      std::uint32_t steps = 0;
      for (auto up = parents[rank]; up && steps <= plan.rank_count(); up = parents[Index(*up)])
        ++steps;
      ASSERT_LE(steps, plan.rank_count()) << "a circle above rank " << rank;
    }
  }
}

void ExpectRingsVisitAll(const ChannelPlan& plan) {
  for (std::uint32_t channel = 0; channel < plan.channel_count(); ++channel) {
    std::vector<Rank> ring = plan.Ring(channel);
    ASSERT_EQ(ring.size(), plan.rank_count());
    for (std::size_t i = 0; i < ring.size(); ++i)
      ASSERT_EQ(plan.At(ring[i], channel).next, ring[(i + 1) % ring.size()]);
    std::sort(ring.begin(), ring.end());
    EXPECT_EQ(std::unique(ring.begin(), ring.end()), ring.end());
  }
}

class PlanJoinTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ifstream file(std::string(RINGLET_FIXTURES) + "/topo-vectors/" + GetParam() + ".xml");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto view = topology::ViewFromXml(text, GetParam()).value();
    const Graph whole =
        topology::Build({&view, 1}, {}, {.gpus = topology::GpuRanks::kAll, .unknown_net = false})
            .value();
    const Paths all = topology::FindPaths(whole, 0, {}).value();
    graph_ = topology::TrimToDomain(all, Rank{0}).value();
    paths_ = topology::FindPaths(graph_, 0, {}).value();
  }

  void ExpectSound(const HostPlan& host, std::uint32_t hosts) {
    NodeClass node;
    node.plan = host;
    const JoinedPlan joined =
        Join({&node, 1}, std::vector<NodeBlock>{{0, hosts, Rank{0}}}, {}).value();
    ASSERT_TRUE(joined.plan.Check().ok());
    ExpectRingsVisitAll(joined.plan);
    ExpectTreesSpan(joined.plan);
    const PatternGraph& ring = node.plan.of(GraphId::kRing);
    if (ring.stopped == StopReason::kFallback) return;  // a fallback ring, because none fits
    EXPECT_EQ(OverfullByRings(paths_, ring), "");
  }

  Graph graph_;
  Paths paths_;
};

TEST_P(PlanJoinTest, RingsAndTreesOfOneToEightHostsAreSound) {
  for (const Policy policy : {Policy::kCompat, Policy::kBest}) {
    const HostPlan alone = SearchHost(paths_, {.policy = policy}).value();
    const HostPlan of_many = SearchHost(paths_, {.policy = policy, .multi_node = true}).value();
    for (std::uint32_t hosts = 1; hosts <= kHostsMax; ++hosts) {
      SCOPED_TRACE(fmt::format("{} hosts, {}", hosts, NameOf(policy)));
      ExpectSound(hosts == 1 ? alone : of_many, hosts);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vectors, PlanJoinTest, testing::ValuesIn(Machines()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace ringlet::plan
