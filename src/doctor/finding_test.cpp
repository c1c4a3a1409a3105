#include "doctor/finding.hpp"

#include <gtest/gtest.h>

#include "doctor/facts.hpp"

namespace ringlet::doctor {
namespace {

TEST(Finding, TheWorstFindingDecidesTheVerdict) {
  CheckReport check{.check = "shm", .seen = ""};
  EXPECT_EQ(check.worst(), FindingVerdict::kOk);
  check.findings = {{.verdict = FindingVerdict::kWarning, .host = "a", .reason = ""},
                    {.verdict = FindingVerdict::kNote, .host = "a", .reason = ""}};
  EXPECT_EQ(check.worst(), FindingVerdict::kWarning);
  EXPECT_EQ(WorstOf({{.check = "x", .seen = ""}, check}), FindingVerdict::kWarning);
  EXPECT_EQ(WorstOf({}), FindingVerdict::kOk);
  EXPECT_EQ(NameOf(FindingVerdict::kError), "error");
}

TEST(Finding, QuantitiesHaveUnits) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(1536), "1.5 KiB");
  EXPECT_EQ(BytesText(std::uint64_t{64} << 20), "64 MiB");
  EXPECT_EQ(BytesText(kUnlimited), "no limit");
  EXPECT_EQ(RateText(12'500'000), "12.5 MB/s");
  EXPECT_EQ(RateText(3'100'000'000), "3.1 GB/s");
  EXPECT_EQ(HostsText(1), "1 host");
  EXPECT_EQ(HostsText(2), "2 hosts");
}

}  // namespace
}  // namespace ringlet::doctor
