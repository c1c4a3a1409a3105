#include "tool/text/quantity.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(QuantityTest, ParsesTimesWithUnits) {
  EXPECT_EQ(ParseDuration("20us").value(), microseconds(20));
  EXPECT_EQ(ParseDuration("1.5ms").value(), microseconds(1500));
  EXPECT_EQ(ParseDuration("2s").value(), std::chrono::seconds(2));
  EXPECT_EQ(ParseDuration("100 ns").value(), Instant(100));
  EXPECT_EQ(ParseDuration("0.25min").value(), std::chrono::seconds(15));
  EXPECT_EQ(ParseDuration("0").value(), Instant(0));
  EXPECT_EQ(ParseDuration("0.000000001s").value(), Instant(1));
}

TEST(QuantityTest, QuotesAnInvalidTime) {
  for (const char* text :
       {"", "20", "us", "-1s", "1.s", ".5s", "1.2.3s", "1e3s", "20 parsecs",
        "99999999999999999999s", "1001h", "60001min", "60000.5min", "1.0000000001s"})
    EXPECT_THAT(ParseDuration(text).error().message, HasSubstr('"' + std::string(text) + '"'));
}

TEST(QuantityTest, ParsesBandwidthsInBitsOrBytes) {
  EXPECT_EQ(ParseBandwidth("10Gb/s").value(), 1250u);
  EXPECT_EQ(ParseBandwidth("1250MB/s").value(), 1250u);
  EXPECT_EQ(ParseBandwidth("12.5 GB/s").value(), 12'500u);
  EXPECT_EQ(ParseBandwidth("8Mb/s").value(), 1u);
  EXPECT_EQ(ParseBandwidth("0").value(), 0u);
}

TEST(QuantityTest, QuotesAnInvalidBandwidth) {
  for (const char* text : {"", "10", "10G", "7Mb/s", "2000GB/s", "1000.5GB/s", "fast", "10gb/s"})
    EXPECT_THAT(ParseBandwidth(text).error().message, HasSubstr('"' + std::string(text) + '"'));
}

TEST(QuantityTest, AProbabilityIsAtMostOne) {
  EXPECT_EQ(ParseProbability("0.25").value(), 0.25);
  EXPECT_EQ(ParseProbability("1").value(), 1.0);
  EXPECT_EQ(ParseProbability("0").value(), 0.0);
  for (const char* text : {"", "1.1", "2", "-0.1", "often"})
    EXPECT_THAT(ParseProbability(text).error().message, HasSubstr('"' + std::string(text) + '"'));
}

TEST(QuantityTest, PrintsTimesWithFewDigits) {
  EXPECT_EQ(DurationText(Instant(37'000)), "37 us");
  EXPECT_EQ(DurationText(Instant(1'250'000)), "1.25 ms");
  EXPECT_EQ(DurationText(milliseconds(12'345)), "12.35 s");
  EXPECT_EQ(DurationText(Instant(0)), "0 us");
}

}  // namespace
}  // namespace ringlet::cli
