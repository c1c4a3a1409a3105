#include "tool/check/gauge.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(Gauge, PrintsHelpTypeAndSamples) {
  Gauge gauge("ringlet_x", "An x.");
  gauge.Add({{"host", "a"}, {"check", "shm"}}, 3);
  EXPECT_EQ(gauge.text(),
            "# HELP ringlet_x An x.\n# TYPE ringlet_x gauge\n"
            "ringlet_x{host=\"a\",check=\"shm\"} 3\n");
}

TEST(Gauge, EscapesLabelValues) {
  Gauge gauge("x", "y");
  gauge.Add({{"host", "a\"} 1\nx"}}, 0);
  EXPECT_NE(gauge.text().find("x{host=\"a\\\"} 1\\\\nx\"} 0\n"), std::string::npos) << gauge.text();
}

}  // namespace
}  // namespace ringlet::cli
