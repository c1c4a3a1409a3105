#include "tool/results/table.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

BenchReport TabledReport() {
  return {
      .ranks = 4,
      .links = "2 shm",
      .type = DataType::kFloat32,
      .op = ReduceOp::kSum,
      .rows = {
          {.bytes = 8,
           .count = 2,
           .out_of_place = Measurement{.time_us = 12.345, .p99_us = 20, .cpu_us = 1.5, .wrong = 0},
           .in_place = Measurement{.time_us = 123.45, .p99_us = 200, .wrong = {}}},
          {.bytes = 67'108'864,
           .count = 16'777'216,
           .out_of_place = Measurement{.time_us = 12'345.6, .p99_us = 20'000, .wrong = 0},
           .in_place = Measurement{.time_us = 9'999, .p99_us = 20'000, .wrong = 123'456}}}};
}

TEST(TableTest, PrintsTheHead) {
  EXPECT_EQ(HeadText({.ranks = 4,
                      .threads = false,
                      .links = "2 shm",
                      .min_bytes = 8,
                      .max_bytes = 1024,
                      .factor = 2,
                      .check = true}),
            "# ringlet bench all_reduce: 4 processes, links 2 shm\n"
            "# minBytes 8 maxBytes 1024 step: 2(factor) validation: 1\n"
            "# time: median over iterations of the slowest rank\n"
            "# cpu: processor time of all ranks together per operation\n"
            "#\n"
            "#                                                           "
            "   out-of-place                      in-place\n"
            "#       size         count      type   redop    root     tim"
            "e   algbw   busbw #wrong     time   algbw   busbw #wrong      p99     cpu\n"
            "#        (B)    (elements)                               (us"
            ")  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)            (us)    (us)\n");
}

TEST(TableTest, AlignsRowsWithTheirColumns) {
  const BenchReport report = TabledReport();
  EXPECT_EQ(RowText(report.rows[0], report) + RowText(report.rows[1], report),
            "           8             2     float     sum      -1    12.3"
            "5    0.00    0.00      0    123.5    0.00    0.00    N/A    20.00    1.50\n"
            "    67108864      16777216     float     sum      -1    1234"
            "6    5.44    8.15      0   9999.0    6.71   10.07 123456    20000    0.00\n");
}

TEST(TableTest, TimesKeepFourDigitsInSevenColumns) {
  const BenchReport report = TabledReport();
  const auto time = [&](double us) {
    const Row row{.bytes = 8, .count = 2, .out_of_place = Measurement{.time_us = us}};
    return RowText(row, report).substr(54, 7);
  };
  EXPECT_EQ(time(0.5), "   0.50");
  EXPECT_EQ(time(99.99), "  99.99");
  EXPECT_EQ(time(100), "  100.0");
  EXPECT_EQ(time(9999.5), " 9999.5");
  EXPECT_EQ(time(10'000), "  10000");
}

TEST(TableTest, PrintsMissingValuesAsNotAvailable) {
  BenchReport report = TabledReport();
  report.kind = CallKind::kBroadcast;
  report.root = 3;
  report.rows[0].in_place = std::nullopt;
  EXPECT_EQ(RowText(report.rows[0], report),
            "           8             2     float    none       3    12.3"
            "5    0.00    0.00      0      N/A     N/A     N/A    N/A    20.00    1.50\n");
}

TEST(TableTest, ShowsPeersWithTheirRatios) {
  BenchReport report = TabledReport();
  report.peers = {"gloo", "mpich"};
  report.rows[0].peers["mpich"] = {.time_us = 24.69};
  const std::string head = VersusHeadText({.ranks = 4, .links = "2 shm"}, report.peers);
  const std::string line = head.substr(head.rfind("#       size"));
  EXPECT_EQ(line,
            "#       size         count      type   redop    root   ringlet #wrong"
            "      gloo  ratio     mpich  ratio\n"
            "#        (B)    (elements)                                (us)       "
            "      (us)             (us)       \n");
  EXPECT_EQ(VersusRowText(report.rows[0], report),
            "           8             2     float     sum      -1     12.35      0"
            "       N/A    N/A     24.69   2.00\n");
}

TEST(TableTest, TheFootHasWrongElementsAndMeanBandwidth) {
  EXPECT_EQ(FootText(TabledReport()),
            "# Wrong elements       : 123456 FAILED\n# Avg bus bandwidth    : 4.5555\n");
  BenchReport right = TabledReport();  // correct first, then unchecked
  right.rows.pop_back();
  EXPECT_EQ(FootText(right), "# Wrong elements       : 0 OK\n# Avg bus bandwidth    : 0.0005\n");
  right.rows[0].out_of_place->wrong = std::nullopt;
  EXPECT_EQ(FootText(right),
            "# Wrong elements       : not checked\n# Avg bus bandwidth    : 0.0005\n");
}

}  // namespace
}  // namespace ringlet::cli
