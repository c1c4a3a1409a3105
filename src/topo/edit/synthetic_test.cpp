#include "topo/edit/synthetic.hpp"

#include <gmock/gmock.h>

#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

std::string SyntheticErrorOf(std::string_view text) {
  const Result<HostView> view = ParseSynthetic(text);
  return view.ok() ? "no error" : view.error().message;
}

TEST(SyntheticTest, ADescriptionGivesItsParts) {
  const HostView view = ParseSynthetic("2x(numa: 2x(switch: 2 gpu, 1 nic))").value();
  EXPECT_EQ(view.numa_nodes.size(), 2u);
  EXPECT_EQ(view.pci.size(), 16u);
  EXPECT_EQ(view.gpus.size(), 8u);
  EXPECT_EQ(view.nets.size(), 4u);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kGpu, 3}), 0u);
  EXPECT_EQ(view.NumaIndexOf({PartKind::kGpu, 4}), 1u);
  EXPECT_EQ(view.gpus[7].rank, 7u);
  EXPECT_EQ(view.pci[view.gpus[7].pci].parent, (Part{PartKind::kPci, 12}));
  EXPECT_EQ(view.nets[3].numa, 1u);
  EXPECT_EQ(view.pci[0].link_speed.generation, 4);
  EXPECT_EQ(ToString(view.numa_nodes[1].cpus), "16-31");
}

TEST(SyntheticTest, ModelsAndRatesDetermineLinksAndSpeeds) {
  const HostView view =
      ParseSynthetic("8 gpu h100-sxm5 switch,(switch:nic 800g), nic 400g").value();
  EXPECT_EQ(view.numa_nodes.size(), 1u);
  EXPECT_EQ(view.gpus[0].compute_capability, 90u);
  ASSERT_EQ(view.gpus[0].links.size(), 1u);
  EXPECT_EQ(view.gpus[0].links[0].count, 18u);
  EXPECT_EQ(view.gpus[0].links[0].target, std::nullopt);
  EXPECT_EQ(view.pci[0].link_speed.generation, 5);
  EXPECT_EQ(view.pci[8].link_speed.generation, 6);
  EXPECT_EQ(view.nets[1].speed_mbit_per_s, 400'000u);
  for (std::uint32_t i = 0; i < 2; ++i) EXPECT_EQ(view.nets[i].guid, i + 1) << "a chip of its own";
}

TEST(SyntheticTest, SeparatesHosts) {
  const HostView view = ParseSynthetic("2x(host: 2x(numa: 2 gpu a100-pcie pairs))").value();
  EXPECT_EQ(view.numa_nodes.size(), 4u);
  EXPECT_NE(view.HostOf(view.numa_nodes[0]), view.HostOf(view.numa_nodes[2]));
  EXPECT_EQ(view.numa_nodes[2].id, 0u);
  EXPECT_EQ(view.gpus[4].dev, 0u);
  EXPECT_EQ(view.gpus[4].rank, 4u);
  EXPECT_EQ(view.gpus[4].links[0].target, view.pci[view.gpus[5].pci].bus);
}

TEST(SyntheticTest, ADescribedMachineSurvivesXml) {
  const HostView view =
      ParseSynthetic("2x(host: 2x(numa: nic, 2x(switch: 2 gpu v100-sxm2 cube-mesh, nic), nic))")
          .value();
  EXPECT_EQ(ViewFromXml(ToXml(view), "").value(), view);
}

TEST(SyntheticTest, ErrorsNameTheColumn) {
  EXPECT_THAT(SyntheticErrorOf(""), HasSubstr("column 1"));
  EXPECT_THAT(SyntheticErrorOf("2 cpu"), HasSubstr("column 3"));
  EXPECT_THAT(SyntheticErrorOf("2x2 gpu"),
              HasSubstr("column 3 of the machine: \"(\" must follow \"x\""));
  EXPECT_THAT(SyntheticErrorOf("(numb: gpu)"), HasSubstr("column 2"));
  EXPECT_THAT(SyntheticErrorOf("(numa gpu)"), HasSubstr("column 7"));
  EXPECT_THAT(SyntheticErrorOf("(numa: gpu"), HasSubstr("column 11"));
  EXPECT_THAT(SyntheticErrorOf("gpu)"), HasSubstr("column 4"));
  EXPECT_THAT(SyntheticErrorOf("0 gpu"), HasSubstr("a count must be between 1 and"));
  EXPECT_THAT(SyntheticErrorOf("99999999999 gpu"), HasSubstr("a count must be between 1 and"));
  EXPECT_THAT(SyntheticErrorOf("gpu, (numa: gpu)"), HasSubstr("column 6"));
  EXPECT_THAT(SyntheticErrorOf("(switch: (numa: gpu))"), HasSubstr("column 10"));
  EXPECT_THAT(SyntheticErrorOf("(host: gpu), gpu"), HasSubstr("column 14"));
  EXPECT_THAT(SyntheticErrorOf("gpu z9"), HasSubstr("known are p100-sxm2"));
  EXPECT_THAT(SyntheticErrorOf("gpu a10g ring"), HasSubstr("cube-mesh"));
  EXPECT_THAT(SyntheticErrorOf("gpu a10g switch"), HasSubstr("not have links"));
  EXPECT_THAT(SyntheticErrorOf("3 gpu a100-pcie pairs"),
              HasSubstr("3 GPUs cannot be joined in pairs"));
  EXPECT_THAT(SyntheticErrorOf("nic fast"), HasSubstr("400g"));
}

TEST(SyntheticTest, LimitsLengthPartsAndDepth) {
  EXPECT_THAT(SyntheticErrorOf(std::string(5000, ' ')), HasSubstr("4096"));
  EXPECT_THAT(SyntheticErrorOf("16384x(switch: 16384 gpu)"), HasSubstr("16384 parts"));
  std::string deep;
  for (int i = 0; i < 30; ++i) deep += "(switch:";
  EXPECT_THAT(SyntheticErrorOf(deep), HasSubstr("too deep"));
}

TEST(SyntheticTest, LimitsTheNumaNodesOfAHost) {
  EXPECT_EQ(ParseSynthetic("512x(numa: gpu)")->numa_nodes.size(), 512u);
  EXPECT_EQ(ParseSynthetic("2x(host: 512x(numa: gpu))")->numa_nodes.size(), 1024u);
  const auto many = ParseSynthetic("513x(numa: gpu)");
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().message.find("at most 512 NUMA nodes"), std::string::npos);
}

}  // namespace
}  // namespace ringlet::topology
