#include "topo/lint/lint.hpp"

#include <gmock/gmock.h>

#include "topo/lint/lint_for_test.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

TEST(LintTest, RecognizesASkeleton) {
  EXPECT_THAT(FindingLinesAfter("2 gpu, nic",
                                [](HostView& v) {
                                  v.gpus.clear();
                                  v.nics.clear();
                                  v.nets.clear();
                                }),
              ElementsAre("note skeleton system"));
}

TEST(LintTest, ReportsLimitsOfNccl) {
  EXPECT_THAT(FindingLinesAfter("gpu", [](HostView& v) { v.version = 2; }),
              ElementsAre("note rccl system"));
  EXPECT_THAT(FindingLinesAfter("100 nic", [](HostView&) {}),
              ElementsAre("error too-many-elements system"));
}

TEST(LintTest, CountsElementsOfTheFusedFile) {
  const auto with = [](std::uint32_t ranks) {
    return FindingLinesAfter("gpu, nic", [&](HostView& v) {
      Gpu gpu = v.gpus[0];
      for (std::uint64_t i = 0; i < 12; ++i)
        gpu.links.push_back(
            {.target = BusId{0x5000 + (i << 4)}, .count = 1, .target_class = PciClass{0x068000}});
      v.gpus.assign(ranks, gpu);
      for (std::uint32_t i = 0; i < ranks; ++i) v.gpus[i].rank = i;
    });
  };
  EXPECT_THAT(with(19), ElementsAre());
  EXPECT_THAT(with(20), ElementsAre("error too-many-elements system"));
  // A skeleton has fewer elements than NCCL fuses.
  EXPECT_THAT(FindingLinesAfter("64 gpu, 65 nic",
                                [](HostView& v) {
                                  v.gpus.clear();
                                  v.nics.clear();
                                  v.nets.clear();
                                }),
              ElementsAre("note skeleton system", "error too-many-fused system"));
}

TEST(LintTest, FindingsOfAFileHavePlacesInOrder) {
  HostView view = ParseSynthetic("2 gpu a100-pcie pairs").value();
  view.gpus[0].links[0].count = 1;
  view.cpu.arch = "";
  const std::string text = "<?xml version='1.0'?>\n" + ToXml(view);
  const LintReport report = LintXml(text, "f.xml");
  ASSERT_TRUE(report.view);
  std::vector<std::string> said;
  for (const Finding& finding : report.findings)
    said.push_back(finding.file + " " + std::to_string(finding.at.line) + " " + finding.rule);
  EXPECT_THAT(said, ElementsAre("f.xml 1 declaration", "f.xml 3 missing-arch",
                                "f.xml 11 nvlink-asymmetric"));
  EXPECT_TRUE(HasError(report.findings));
}

TEST(LintTest, ATextThatIsNotATopologyGivesOneError) {
  const LintReport report = LintXml("nonsense", "f.xml");
  EXPECT_FALSE(report.view);
  EXPECT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(HasError(report.findings));
  EXPECT_FALSE(HasError({}));
}

}  // namespace
}  // namespace ringlet::topology
