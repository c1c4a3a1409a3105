#include <gmock/gmock.h>

#include "topo/lint/lint_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

const std::string kFirst = "system/cpu[0]/pci[0000:01:00.0]/gpu";
const std::string kSecond = "system/cpu[0]/pci[0000:02:00.0]/gpu";

TEST(LintGpusTest, AGpuNeedsANumberACapabilityAndGdr) {
  EXPECT_THAT(FindingLinesAfter("gpu", [](HostView& v) { v.gpus[0].dev.reset(); }),
              ElementsAre("warning incomplete-gpu " + kFirst));
  EXPECT_THAT(FindingLinesAfter("gpu", [](HostView& v) { v.gpus[0].compute_capability = 0; }),
              ElementsAre("warning incomplete-gpu " + kFirst));
  EXPECT_THAT(FindingLinesAfter("gpu", [](HostView& v) { v.gpus[0].mlopart = 2; }),
              ElementsAre("error odd-partition " + kFirst));
}

TEST(LintGpusTest, TheCapabilityMustMatchTheDevice) {
  EXPECT_THAT(
      FindingLinesAfter("gpu h100-sxm5", [](HostView& v) { v.gpus[0].compute_capability = 80; }),
      ElementsAre("warning odd-compute-capability " + kFirst));
}

TEST(LintGpusTest, ReportsDuplicateRanksAndDevices) {
  EXPECT_THAT(FindingLinesAfter("2 gpu", [](HostView& v) { v.gpus[1].rank = 0; }),
              ElementsAre("error duplicate-rank " + kSecond));
  EXPECT_THAT(FindingLinesAfter("2 gpu", [](HostView& v) { v.gpus[1].dev = 0; }),
              ElementsAre("error duplicate-device " + kSecond));
  EXPECT_THAT(FindingLinesAfter("gpu",
                                [](HostView& v) {
                                  v.gpus.push_back(v.gpus[0]);  // two ranks on one device
                                  v.gpus[1].rank = 1;
                                }),
              ElementsAre());
}

TEST(LintGpusTest, ReportsSeveralGpusOnOneFunction) {
  const auto two_on_one = [](HostView& v, std::optional<std::uint32_t> dev) {
    v.gpus.push_back(v.gpus[0]);
    v.gpus[1].rank = 1;
    v.gpus[1].dev = dev;
  };
  EXPECT_THAT(
      FindingLinesAfter("gpu", [&](HostView& v) { two_on_one(v, 1); }),
      ElementsAre("error gpus-on-one-function system/cpu[0]/pci[0000:01:00.0]/gpu[rank 1]"));
  EXPECT_THAT(FindingLinesAfter("gpu",
                                [&](HostView& v) {
                                  two_on_one(v, 0);
                                  v.gpus[0].mlopart = 0;
                                  v.gpus[1].mlopart = 1;
                                }),
              ElementsAre())
      << "the halves of one GPU have its number";
}

}  // namespace
}  // namespace ringlet::topology
