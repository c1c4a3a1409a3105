#include "plan/channels/graph_file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ringlet::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using topology::PathType;

GraphNames Names(std::uint32_t gpus) {
  GraphNames names;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    names.gpus.push_back(i);
    names.ranks.push_back(i);
    names.nets.push_back(i);
  }
  return names;
}

std::string Dump(const std::string& name) {
  const std::filesystem::path source = std::filesystem::absolute(__FILE__);
  const auto root = source.parent_path().parent_path().parent_path().parent_path().parent_path();
  std::ifstream file(root / "test/fixtures/topologies/graphs" / (name + ".graph.xml"));
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(GraphFileTest, DumpsOfNcclRoundTrip) {
  const std::pair<const char*, std::uint32_t> dumps[] = {{"3090x8_panlichen", 8},
                                                         {"hgx_b200_8x_vastai", 8},
                                                         {"hgx_h200_8x_vastai", 8},
                                                         {"perlmutter_a100_nid001056", 4},
                                                         {"ucb_dgx1v_graph", 8}};
  for (const auto& [name, gpus] : dumps) {
    const Result<HostPlan> plan = ReadGraphs(Dump(name), name, Names(gpus));
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto again = ReadGraphs(WriteGraphs(*plan, Names(gpus)), "again", Names(gpus));
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, *plan) << name;
  }
}

TEST(GraphFileTest, ADumpContainsTheChannelsOfNccl) {
  const HostPlan plan = ReadGraphs(Dump("3090x8_panlichen"), "dump", Names(8)).value();
  const PatternGraph& ring = plan.of(GraphId::kRing);
  ASSERT_EQ(ring.channels.size(), 1u);
  EXPECT_THAT(ring.channels[0].devices, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(ring.channels[0].entry, 0u);
  EXPECT_EQ(ring.channels[0].exit, 0u);
  EXPECT_EQ(ring.intra.mb_per_s, 4'000u);
  EXPECT_EQ(ring.type_intra, PathType::kSys);
  EXPECT_TRUE(ring.same_channels);
  EXPECT_TRUE(plan.multi_node);
  const HostPlan switched = ReadGraphs(Dump("hgx_b200_8x_vastai"), "dump", Names(8)).value();
  EXPECT_EQ(switched.of(GraphId::kNvls).channels.size(), 8u);
  EXPECT_EQ(switched.of(GraphId::kNvls).inter.mb_per_s, 90'000u);
}

std::string File(const std::string& attributes, const std::string& channel) {
  return "<graphs version=\"1\">\n<graph id=\"0\" pattern=\"4\" crossnic=\"0\" speedinter=\"2.4\" "
         "latencyinter=\"0\" typeintra=\"C2C\" typeinter=\"PIX\" samechannels=\"1\" " +
         attributes + ">\n<channel>\n" + channel + "\n</channel></graph></graphs>\n";
}

TEST(GraphFileTest, ErrorsStateFileAndLine) {
  const auto why = [](const std::string& text) {
    const auto plan = ReadGraphs(text, "g.xml", Names(2));
    return plan.ok() ? std::string("ok") : plan.error().message;
  };
  const std::string good = "nchannels=\"1\" speedintra=\"17.5\"";
  const std::string both = "<gpu dev=\"0x1\"/><gpu dev=\"0\" rank=\"0\"/>";
  EXPECT_EQ(why(File(good, both)), "ok");
  EXPECT_THAT(why("<graphs"), HasSubstr("g.xml:1:"));
  EXPECT_THAT(why("<system/>"), HasSubstr("begins with <graphs>"));
  EXPECT_THAT(why(File(good, "<gpu dev=\"0\"/>")), HasSubstr("g.xml:3:2: this channel has 1 GPUs"));
  EXPECT_THAT(why(File(good, "<gpu dev=\"0\"/><gpu dev=\"0\"/>")), HasSubstr("g.xml:4:"));
  EXPECT_THAT(why(File(good, "<gpu dev=\"7\"/>")),
              HasSubstr("dev is \"7\", but it must be one that this machine has"));
  EXPECT_THAT(why(File(good, "<gpu rank=\"9\"/>")), HasSubstr("rank is \"9\""));
  EXPECT_THAT(why(File(good, both + "<net dev=\"5\"/>")), HasSubstr("dev is \"5\""));
  EXPECT_THAT(why(File(good, both + "<nic/>")), HasSubstr("neither <gpu> nor <net>"));
  EXPECT_THAT(
      why(File("nchannels=\"2\" speedintra=\"1\"", both)),
      HasSubstr("nchannels is \"2\", but it must be 1, the number of channels that follow"));
  EXPECT_THAT(why(File("nchannels=\"1\" speedintra=\"fast\"", both)),
              HasSubstr("speedintra is \"fast\", but it must be a number of GB/s"));
  EXPECT_THAT(why(File("nchannels=\"1\"", both)), HasSubstr("speedintra is missing"));
}

TEST(GraphFileTest, EmptyGraphsHaveThePatternsOfNccl) {
  const std::string ours = WriteGraphs(HostPlan(), Names(8));
  std::istringstream dump(Dump("hgx_h200_8x_vastai"));
  int graphs = 0;
  for (std::string line; std::getline(dump, line);) {
    if (line.find("nchannels=\"0\"") == line.npos) continue;
    EXPECT_THAT(ours, HasSubstr(line));
    ++graphs;
  }
  EXPECT_EQ(graphs, 2);
}

// NCCL cannot write the last of these types and fails.
TEST(GraphFileTest, WritesTypesThatNcclCannotWrite) {
  HostPlan plan =
      ReadGraphs(File("nchannels=\"1\" speedintra=\"17.5\"", "<gpu dev=\"0\"/><gpu dev=\"1\"/>"),
                 "g.xml", Names(2))
          .value();
  EXPECT_EQ(plan.of(GraphId::kRing).intra.mb_per_s, 17'500u);
  EXPECT_EQ(plan.of(GraphId::kRing).type_intra, PathType::kC2c);
  const std::string text = WriteGraphs(plan, Names(2));
  EXPECT_THAT(text, HasSubstr("speedintra=\"17.5\" speedinter=\"2.4\""));
  EXPECT_THAT(text, HasSubstr("typeintra=\"C2C\""));
}

}  // namespace
}  // namespace ringlet::plan
