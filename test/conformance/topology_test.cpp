// Compares graph and paths with NCCL's results on the same files: the vectors in
// test/fixtures/topo-vectors. Their README names the origin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "topology/paths/locality.hpp"
#include "topology/paths/trim.hpp"
#include "topology/xml/xml_reader.hpp"
#include "vectors.hpp"

namespace ringlet::topology {
namespace {

using Json = nlohmann::json;
using test::Contents;
using test::MbPerS;

/// Returns the nodes that rank 0 keeps after trimming.
Result<Graph> Kept(const HostView& view) {
  RINGLET_TRY_ASSIGN(
      const Graph whole,
      Build({&view, 1}, {},
            {.rules = Rules::kNccl, .gpus = GpuRanks::kGiven, .unknown_net = false}));
  RINGLET_TRY_ASSIGN(const Paths all, FindPaths(whole, 0, {}));
  return TrimToDomain(all, Rank{0});
}

class VectorTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    json_ = test::ReadVector(GetParam());
    const std::string file = json_["xml"];
    Result<HostView> view = ViewFromXml(Contents("topo-vectors/" + file), file);
    ASSERT_TRUE(view.ok()) << view.error().message;
    gpus_in_file_ = view->gpus.size();
    Result<Graph> graph = Kept(*view);
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    graph_ = std::move(*graph);
    Result<Paths> paths = FindPaths(graph_, 0, {});
    ASSERT_TRUE(paths.ok()) << paths.error().message;
    paths_ = std::move(*paths);
    for (std::uint32_t i = 0; i < graph_.nodes().size(); ++i)
      by_name_[NcclName(graph_, NodeIndex{i})] = NodeIndex{i};
  }

  NodeIndex Named(const Json& name) const {
    const auto at = by_name_.find(name.get<std::string>());
    EXPECT_NE(at, by_name_.end()) << name;
    return at == by_name_.end() ? NodeIndex{0} : at->second;
  }

  Json json_;
  std::size_t gpus_in_file_ = 0;
  Graph graph_;
  Paths paths_;
  std::map<std::string, NodeIndex> by_name_;
};

TEST_P(VectorTest, LinksAreEqualAndInTheSameOrder) {
  ASSERT_EQ(graph_.systems().size(), 1u);
  std::map<std::string, std::vector<std::string>> expected, built;
  for (const Json& link : json_["links"])
    expected[link[0]].push_back(fmt::format("{} {} {}", link[1].get<std::string>(),
                                            link[2].get<std::string>(), MbPerS(link[3])));
  for (const Node& node : graph_.nodes()) {
    const NodeIndex index{static_cast<std::uint32_t>(&node - graph_.nodes().data())};
    for (const Link& link : node.links)
      built[NcclName(graph_, index)].push_back(fmt::format(
          "{} {} {}", NcclName(graph_, link.to), NameOf(link.kind), link.bandwidth.mb_per_s));
  }
  EXPECT_EQ(built, expected);
}

TEST_P(VectorTest, PathsEqualThoseOfNccl) {
  std::set<std::pair<NodeIndex, NodeIndex>> listed;
  for (const Json& entry : json_["paths"]) {
    const NodeIndex from = Named(entry[0]), to = Named(entry[1]);
    const Path path = paths_.From(from, to);
    EXPECT_EQ(path.hops, entry[2].get<std::uint32_t>()) << entry;
    EXPECT_EQ(path.bandwidth.mb_per_s, MbPerS(entry[3])) << entry;
    EXPECT_EQ(NameOf(path.type), entry[4].get<std::string>()) << entry;
    listed.emplace(from, to);
    const std::vector<Hop> route = paths_.Route(from, to);
    EXPECT_EQ(route.size(), path.hops) << entry;
    if (path.type == PathType::kDis) continue;
    EXPECT_EQ(route.empty() ? from : route.front().from, from) << entry;
    EXPECT_EQ(route.empty() ? from : route.back().to, to) << entry;
  }
  for (const NodeKind from : {NodeKind::kGpu, NodeKind::kNet})
    for (const NodeKind to : {NodeKind::kGpu, NodeKind::kCpu, NodeKind::kNet, NodeKind::kDev})
      for (const NodeIndex a : paths_.Of(from))
        for (const NodeIndex b : paths_.Of(to))
          EXPECT_TRUE(listed.contains({a, b}) || paths_.From(a, b).type == PathType::kDis)
              << NcclName(graph_, a) << " " << NcclName(graph_, b);
}

TEST_P(VectorTest, PreferredNetsEqualThoseOfNccl) {
  EXPECT_EQ(json_["preferred_net_by_rank"].empty(), paths_.Of(NodeKind::kNet).empty());
  for (const auto& [rank, nets] : json_["preferred_net_by_rank"].items()) {
    const auto gpu = graph_.Find(Rank{static_cast<std::uint32_t>(std::stoul(rank))});
    ASSERT_TRUE(gpu);
    for (std::uint32_t channel = 0; channel < nets.size(); ++channel)
      EXPECT_EQ(NearNetsOf(paths_, *gpu, {}).For(channel), Named(nets[channel])) << rank;
  }
}

TEST_P(VectorTest, SystemLimitsEqualThoseOfNccl) {
  const bool beyond = json_["hosts"].get<std::size_t>() * gpus_in_file_ !=
                      json_["gpus_in_system"].get<std::size_t>();
  EXPECT_EQ(paths_.Of(NodeKind::kGpu).size(), json_["gpus_in_system"].get<std::size_t>());
  EXPECT_EQ(beyond ? 1 : 0, json_["inter"].get<int>());
  const SystemLimits limits = LimitsOf(paths_, beyond);
  EXPECT_EQ(limits.widest.mb_per_s, MbPerS(json_["maxBw"]));
  EXPECT_EQ(limits.total.mb_per_s, MbPerS(json_["totalBw"]));
}

INSTANTIATE_TEST_SUITE_P(Nccl, VectorTest, testing::ValuesIn(test::Vectors()),
                         test::VectorName<testing::TestParamInfo<std::string>>);

/// A machine with a recorded output of NCCL.
struct Statement {
  std::string topology;
  std::string log;
  bool peer_access;  ///< true if its driver permits access between GPUs
};

class StatementTest : public testing::TestWithParam<Statement> {};

/// Older versions joined ranks to switches without a node for the device between them.
std::uint32_t HopsThrough(NodeKind kind) {
  return kind == NodeKind::kGpu ? 1 : 0;
}

TEST_P(StatementTest, PathsEqualTheLogOfNccl) {
  const std::string file = "topologies/" + GetParam().topology;
  const Result<HostView> view = ViewFromXml(Contents(file), file);
  ASSERT_TRUE(view.ok()) << view.error().message;
  const Result<Graph> graph =
      Build({&*view, 1}, {}, {.rules = Rules::kNccl, .gpus = GpuRanks::kGiven});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  PathOptions options;
  if (!GetParam().peer_access) options.peer_access = [](Rank, Rank) { return false; };
  const Result<Paths> paths = FindPaths(*graph, 0, options);
  ASSERT_TRUE(paths.ok()) << paths.error().message;
  std::map<std::string, NodeIndex> nodes;
  for (std::uint32_t i = 0; i < graph->nodes().size(); ++i) {
    std::string name = NcclName(*graph, NodeIndex{i});
    for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
    nodes[name] = NodeIndex{i};
    nodes[std::regex_replace(name, std::regex("/0-"), "/")] = NodeIndex{i};  // before MNNVL
  }
  const std::regex line_pattern("NCCL INFO ((?:GPU|NET)/\\S+) :(GPU/.*)");
  const std::regex path_pattern("(\\S+) \\((\\d+)/([0-9.]+)/([A-Z0-9]+)\\)");
  std::istringstream log(Contents("topologies/statements/" + GetParam().log));
  std::size_t compared = 0;
  for (std::string line; std::getline(log, line);) {
    std::smatch source;
    if (!std::regex_search(line, source, line_pattern)) continue;
    const NodeIndex from = nodes.at(source[1]);
    const std::string rest = source[2];
    for (std::sregex_iterator it(rest.begin(), rest.end(), path_pattern), end; it != end; ++it) {
      const NodeIndex to = nodes.at((*it)[1]);
      const Path path = paths->From(from, to);
      const std::uint32_t extra =
          from == to ? 0 : HopsThrough(graph->at(from).kind) + HopsThrough(graph->at(to).kind);
      EXPECT_EQ(path.hops, std::stoul((*it)[2]) + extra) << line;
      EXPECT_EQ(path.bandwidth.mb_per_s, std::lround(std::stod((*it)[3]) * 1000)) << line;
      EXPECT_EQ(NameOf(path.type), (*it)[4].str()) << line;
      ++compared;
    }
  }
  const std::size_t ends = paths->Of(NodeKind::kGpu).size();
  EXPECT_GE(compared, ends * ends);
}

INSTANTIATE_TEST_SUITE_P(Nccl, StatementTest,
                         testing::Values(Statement{"nvidia/3090x8_panlichen.topo.xml",
                                                   "3090x8_panlichen.log27.rank4.txt", false},
                                         Statement{"nvidia/a100pcie_nvl2_timez.topo.xml",
                                                   "a100pcie_timez.rank0.txt", true},
                                         Statement{"broken/a100pcie_topo_fail_timez.topo.xml",
                                                   "a100pcie_fault_timez.rank0.txt", true}),
                         [](const auto& one) {
                           return one.param.log.substr(0, one.param.log.find('.'));
                         });

/// Checks which hosts stay whole, by NCCL 2.30's number of nodes on one and two hosts.
TEST(DomainTest, HostsSplitIntoTheNodesOfNccl) {
  const Json results = test::ReadResults();
  std::size_t compared = 0;
  for (const auto& [name, result] : results.items()) {
    const std::string file = "topologies/nvidia/" + name.substr(0, name.rfind('.')) + ".topo.xml";
    const Result<HostView> view = ViewFromXml(Contents(file), file);
    ASSERT_TRUE(view.ok()) << view.error().message;
    const Result<Graph> graph =
        Build({&*view, 1}, {}, {.rules = Rules::kNccl, .gpus = GpuRanks::kGiven});
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    const Result<Paths> paths = FindPaths(*graph, 0, {});
    ASSERT_TRUE(paths.ok()) << paths.error().message;
    const std::vector<std::uint32_t> domains = DomainsOf(*paths);
    EXPECT_EQ(domains.size(), result["gpus"].get<std::size_t>()) << name;
    const std::set<std::uint32_t> distinct(domains.begin(), domains.end());
    EXPECT_EQ(distinct.size() * result["hosts"].get<std::size_t>(),
              result["nNodes"].get<std::size_t>())
        << name;
    ++compared;
  }
  EXPECT_EQ(compared, 20u);
}

/// A machine with a recorded output of `nvidia-smi topo -m`. `X`, `NV18`, `NODE`, ...
class SmiTest : public testing::TestWithParam<std::string> {};

TEST_P(SmiTest, NvLinksAndNumaNodesEqualThoseOfNvidiaSmi) {
  const std::string file = "topologies/nvidia/" + GetParam() + ".topo.xml";
  const Result<HostView> view = ViewFromXml(Contents(file), file);
  ASSERT_TRUE(view.ok()) << view.error().message;
  const Result<Graph> graph = Build({&*view, 1}, {}, {.gpus = GpuRanks::kAll});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  const Result<Paths> paths = FindPaths(*graph, 0, {});
  ASSERT_TRUE(paths.ok()) << paths.error().message;
  // nvidia-smi numbers by bus address, as NVML does.
  std::vector<NodeIndex> gpus = paths->Of(NodeKind::kGpu);
  std::sort(gpus.begin(), gpus.end(), [&](NodeIndex a, NodeIndex b) {
    return graph->at(graph->gpu(a).device).number < graph->at(graph->gpu(b).device).number;
  });
  std::istringstream text(Contents("topologies/statements/" + GetParam() + ".topo-m.txt"));
  std::size_t row = 0;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("GPU")) continue;
    std::vector<std::string> cells;
    std::istringstream columns(line);
    for (std::string cell; std::getline(columns, cell, '\t');) cells.push_back(cell);
    const NodeIndex from = gpus.at(row);
    const std::uint32_t one =
        NvLink(graph->device(graph->gpu(from).device).compute_capability).mb_per_s;
    for (std::size_t column = 0; column < gpus.size(); ++column) {
      if (column == row) continue;
      const Path path = paths->From(from, gpus[column]);
      EXPECT_EQ(path.type, PathType::kNvl) << line;
      EXPECT_EQ(fmt::format("NV{}", path.bandwidth.mb_per_s / one), cells.at(1 + column)) << line;
      EXPECT_EQ(path.bandwidth.mb_per_s % one, 0u) << line;
    }
    const std::string numa = cells.at(cells.size() - 3);
    EXPECT_EQ(fmt::format("{}", graph->at(*NearestCpu(*paths, from)).number), numa) << line;
    ++row;
  }
  EXPECT_EQ(row, gpus.size());
}

INSTANTIATE_TEST_SUITE_P(Nvidia, SmiTest,
                         testing::Values("perlmutter_a100_nid001056", "hgx_h200_8x_vastai",
                                         "hgx_b200_8x_vastai"));

}  // namespace
}  // namespace ringlet::topology
