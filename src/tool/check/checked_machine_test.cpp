#include "tool/check/checked_machine.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

CheckedMachine CheckedFile(const std::string& file) {
  CheckRates rates{plan::GpuPlanOptions()};
  return CheckMachine(ReadMachine(file), nullptr, "", rates);
}

TEST(CheckedMachineTest, AFileReceivesAVerdict) {
  const CheckedMachine good = CheckedFile(Fixture("topologies/nvidia/dgx_a100_xla.topo.xml"));
  EXPECT_EQ(good.refusal, "");
  EXPECT_FALSE(good.worst());
  const CheckedMachine bad =
      CheckedFile(Fixture("topologies/broken/azure_ncv4_current_selfloop.topo.xml"));
  EXPECT_EQ(bad.worst(), topology::Severity::kError);
}

TEST(CheckedMachineTest, RefusesATextThatIsNotATopology) {
  EXPECT_THAT(CheckedFile("no/such.xml").refusal, HasSubstr("no/such.xml"));
  EXPECT_THAT(CheckedFile(Fixture("topologies/graphs/ucb_dgx1v_graph.graph.xml")).refusal,
              HasSubstr("this is a graph file"));
  EXPECT_THAT(CheckedFile(Fixture("topologies/findings.txt")).refusal, HasSubstr("not XML"));
}

}  // namespace
}  // namespace ringlet::cli
