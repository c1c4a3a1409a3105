#include "tool/doctor/kernel_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "doctor/facts.hpp"

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KernelFigures, ParsesCpuQuotasOfBothCgroupVersions) {
  EXPECT_EQ(QuotaPercent("150000 100000\n"), 150u);
  EXPECT_EQ(QuotaPercent("max 100000\n"), std::nullopt);
  EXPECT_EQ(QuotaPercent(""), std::nullopt);
  EXPECT_EQ(QuotaPercent("1 0"), std::nullopt);
  EXPECT_EQ(QuotaPercent("18446744073709551615 1"), std::nullopt);
  EXPECT_EQ(QuotaPercent("50000\n", "100000\n"), 50u);
  EXPECT_EQ(QuotaPercent("-1\n", "100000\n"), std::nullopt);
}

TEST(KernelFigures, RecognizesUnlimitedValues) {
  EXPECT_EQ(LimitOf("max\n"), doctor::kUnlimited);
  EXPECT_EQ(LimitOf("9223372036854771712\n"), doctor::kUnlimited);
  EXPECT_EQ(LimitOf("1024\n"), 1024u);
}

TEST(KernelFigures, ListsControlGroupsFromTheInnermost) {
  EXPECT_THAT(ControlGroups("0::/a/b\n", "cpu"),
              ElementsAre("/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"));
  EXPECT_THAT(ControlGroups("0::/\n", "cpu"), ElementsAre("/sys/fs/cgroup"));
  EXPECT_THAT(ControlGroups("4:cpu,cpuacct:/job\n3:memory:/m\n0::/x\n", "cpu"),
              ElementsAre("/sys/fs/cgroup/cpu,cpuacct/job", "/sys/fs/cgroup/cpu,cpuacct"));
  EXPECT_THAT(ControlGroups("0::/../other\n", "cpu"), ElementsAre("/sys/fs/cgroup"));
  EXPECT_THAT(ControlGroups("", "cpu"), IsEmpty());
}

TEST(KernelFigures, MarksTheLocalPortsOfSockets) {
  std::vector<bool> seen(65'536);
  MarkPorts(
      "  sl  local_address rem_address   st tx_queue\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"
      "   1: 0100007F:1F90 0100007F:C000 01 00000000:00000000\n"
      "   2: 00000000000000000000000001000000:FFFF 0:0 0A\n   3: x\n: \n",
      seen);
  EXPECT_TRUE(seen[8080]);
  EXPECT_TRUE(seen[65'535]);
  EXPECT_EQ(std::ranges::count(seen, true), 2);
}

TEST(KernelFigures, ParsesMeminfoAndBracketedChoices) {
  constexpr std::string_view kText = "MemTotal:  2 kB\nHugePages_Total:   7\nMem: 3 kB\n";
  EXPECT_EQ(MeminfoBytes(kText, "MemTotal"), 2048u);
  EXPECT_EQ(MeminfoBytes(kText, "HugePages_Total"), 7u);
  EXPECT_EQ(MeminfoBytes(kText, "MemFree"), 0u);
  EXPECT_EQ(ChosenWord("always [madvise] never\n"), "madvise");
  EXPECT_EQ(ChosenWord("]["), "");
}

}  // namespace
}  // namespace ringlet::cli
