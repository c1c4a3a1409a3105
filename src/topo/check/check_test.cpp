#include "topo/check/check.hpp"

#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

TEST(CheckTest, ASkeletonIsNotHealthy) {
  EXPECT_THAT(JudgedAfter(kHgxH100,
                          [](HostView& v) {
                            v.gpus.clear();
                            v.nics.clear();
                            v.nets.clear();
                          }),
              testing::ElementsAre("note skeleton 8 GPUs, 8 NICs"));
}

TEST(CheckTest, LintErrorsAreDefectsAndNotesAreNot) {
  const HostView view = ParseSynthetic(kHgxH100).value();
  const std::vector<Finding> findings = {{.severity = Severity::kWarning,
                                          .rule = "numa-order",
                                          .file = "f",
                                          .at = {3, 4},
                                          .path = "system",
                                          .reason = "r",
                                          .cure = "c"},
                                         {.severity = Severity::kNote,
                                          .rule = "no-speed",
                                          .file = "f",
                                          .at = {},
                                          .path = "",
                                          .reason = "",
                                          .cure = ""}};
  const Positions none;
  const std::vector<Defect> defects =
      Check({.view = view, .positions = none, .findings = findings});
  ASSERT_EQ(defects.size(), 1u);
  EXPECT_EQ(defects[0].rule->word, kFileRule);
  EXPECT_EQ(defects[0].lint_rule, "numa-order");
  EXPECT_EQ(defects[0].severity, Severity::kWarning);
  EXPECT_EQ(defects[0].where, "line 3");
}

TEST(CheckTest, SortsDefectsBySeverity) {
  const std::vector<Defect> defects = DefectsOf(DefectiveView(kHgxH100, [](HostView& v) {
    v.pci[0].link_speed = PcieSpeed::Of(1);  // of a switch: a warning
    v.gpus[7].links.clear();
  }));
  ASSERT_EQ(defects.size(), 2u);
  EXPECT_EQ(defects[0].severity, Severity::kError);
  EXPECT_EQ(defects[1].severity, Severity::kWarning);
}

TEST(CheckTest, DetectsGpus) {
  EXPECT_TRUE(HasGpus(ParseSynthetic("gpu").value()));
  EXPECT_FALSE(HasGpus(ParseSynthetic("nic").value()));
}

}  // namespace
}  // namespace ringlet::topology
