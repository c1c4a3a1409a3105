#include "tool/results/machine.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

TEST(MachineTest, PrintsTheFactsInOneLine) {
  EXPECT_EQ(
      MachineText({.cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC 9B45\n"
                              "flags\t\t: fpu hypervisor avx2\n",
                   .os_release = "NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
                   .kernel = "6.18.5-cloud-amd64\n",
                   .memory = "MemTotal:       25165824 kB\n",
                   .cores = 2}),
      "2 cores (AMD EPYC 9B45, virtual machine), 24 GiB, Debian GNU/Linux 12, kernel 6.18");
}

TEST(MachineTest, OmitsUnknownFacts) {
  EXPECT_EQ(MachineText({.cpuinfo = "", .os_release = "", .kernel = "", .memory = "x", .cores = 1}),
            "1 core");
  EXPECT_EQ(MachineText({.cpuinfo = "flags : hypervisor\n",
                         .os_release = "",
                         .kernel = "6",
                         .memory = "MemTotal: x kB",
                         .cores = 4}),
            "4 cores (virtual machine), kernel 6");
}

TEST(MachineTest, ThisMachineHasCoresAndTheDateIsValid) {
  EXPECT_THAT(MachineText(ReadMachine()), testing::ContainsRegex("^[0-9]+ cores?"));
  EXPECT_THAT(Today(), testing::MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]"));
  EXPECT_THAT(OwnCommandLine(), testing::StartsWith("ringlet"));
}

}  // namespace
}  // namespace ringlet::cli
