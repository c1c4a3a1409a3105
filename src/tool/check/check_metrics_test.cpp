#include "tool/check/check_metrics.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(CheckMetricsTest, GroupsTheSamplesOfEachGauge) {
  CheckedMachine sick{.title = "n\"1\\"};
  topology::Defect defect{.rule = &topology::DefectRuleOf("nic-rate")};
  defect.where = "0000:19:00.0";
  defect.name = "port mlx5_0";
  sick.defects = {defect, defect};
  sick.costs.each = {DefectCost{2, {24'000}, {48'000}}, std::nullopt};
  sick.costs.together = sick.costs.each[0];
  const std::string text =
      CheckMetrics({sick, {.title = "good"}, {.title = "torn", .refusal = "no"}});
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("# TYPE ringlet_topo_check_verdict gauge\n"
                      "ringlet_topo_check_verdict{machine=\"n\\\"1\\\\\"} 1\n"
                      "ringlet_topo_check_verdict{machine=\"good\"} 1\n"
                      "ringlet_topo_check_verdict{machine=\"torn\"} 0\n"),
            HasSubstr("ringlet_topo_check_severity{machine=\"n\\\"1\\\\\"} 3\n"
                      "ringlet_topo_check_severity{machine=\"good\"} 0\n#"),
            HasSubstr("rule=\"nic-rate\",severity=\"error\",action=\"repair\"} 2\n"),
            HasSubstr("where=\"0000:19:00.0\",name=\"port mlx5_0\",hosts=\"2\"} 24000000000\n"),
            HasSubstr("ringlet_topo_check_together_lost_bytes_per_second{")));
  EXPECT_EQ(text.back(), '\n');
  EXPECT_THAT(text, Not(HasSubstr("\n\n")));
}

TEST(CheckMetricsTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_THAT(CheckMetrics({{.title = "b\xe4r"}}), HasSubstr("machine=\"b\xef\xbf\xbdr\""));
}

}  // namespace
}  // namespace ringlet::cli
