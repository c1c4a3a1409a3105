#include "tool/operation/sweep.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseSizeTest, ParsesNumbersAndSuffixes) {
  EXPECT_EQ(ParseSize("8").value(), 8u);
  EXPECT_EQ(ParseSize("0").value(), 0u);
  EXPECT_EQ(ParseSize("64K").value(), 65'536u);
  EXPECT_EQ(ParseSize("3m").value(), 3u << 20);
  EXPECT_EQ(ParseSize("2G").value(), std::size_t{2} << 30);
}

TEST(ParseSizeTest, AcceptsBinaryAndDecimalUnits) {
  for (const char* mebi : {"1M", "1m", "1MiB", "1mib"})
    EXPECT_EQ(ParseSize(mebi).value(), std::size_t{1} << 20) << mebi;
  EXPECT_EQ(ParseSize("1KiB").value(), 1024u);
  EXPECT_EQ(ParseSize("1GiB").value(), std::size_t{1} << 30);
  EXPECT_EQ(ParseSize("1kB").value(), 1000u);
  EXPECT_EQ(ParseSize("1MB").value(), 1'000'000u);
  EXPECT_EQ(ParseSize("1GB").value(), 1'000'000'000u);
}

TEST(ParseSizeTest, ATebibyteIsTheMaximum) {
  EXPECT_EQ(ParseSize("1024G").value(), std::size_t{1} << 40);
  EXPECT_EQ(ParseSize("1099511627776").value(), std::size_t{1} << 40);
  EXPECT_FALSE(ParseSize("1025G").ok());
  EXPECT_FALSE(ParseSize("1099511627777").ok());
}

TEST(ParseSizeTest, AnErrorQuotesTheInvalidText) {
  for (const char* text :
       {"", "K", "1.5M", "-1", "8 ", "1T", "0x10", "99999999999999999999", "9999999999G"}) {
    const auto size = ParseSize(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_THAT(size.error().message, HasSubstr(std::string("\"") + text + "\""));
  }
}

TEST(CountsTest, SizesGrowByTheFactor) {
  EXPECT_THAT(Counts({8, 64, 2}, DataType::kFloat32).value(), ElementsAre(2, 4, 8, 16));
  EXPECT_THAT(Counts({8, 100, 4}, DataType::kInt8).value(), ElementsAre(8, 32));
  EXPECT_THAT(Counts({16, 16, 2}, DataType::kFloat64).value(), ElementsAre(2));
  EXPECT_EQ(Counts({}, DataType::kFloat32).value().size(), 24u);
}

TEST(CountsTest, EachCountIsPositiveAndUnique) {
  EXPECT_THAT(Counts({1, 16, 2}, DataType::kFloat64).value(), ElementsAre(1, 2));
}

TEST(CountsTest, EmptyRangesAreErrors) {
  EXPECT_FALSE(Counts({0, 8, 2}, DataType::kInt8).ok());
  EXPECT_FALSE(Counts({16, 8, 2}, DataType::kInt8).ok());
  EXPECT_FALSE(Counts({8, 16, 1}, DataType::kInt8).ok());
}

TEST(RepeatsForTest, FitsTheBudgetWithinLimits) {
  EXPECT_EQ(RepeatsFor(milliseconds(1), milliseconds(100)), 100u);
  EXPECT_EQ(RepeatsFor(milliseconds(1000), milliseconds(100)), 5u);
  EXPECT_EQ(RepeatsFor(Instant(0), milliseconds(100)), 2000u);
}

TEST(SummarizeTest, TimesAreThoseOfTheSlowestRank) {
  const Timing timing = Summarize({{microseconds(1), microseconds(9), microseconds(3)},
                                   {microseconds(2), microseconds(1), microseconds(1)}});
  EXPECT_DOUBLE_EQ(timing.median_us, 3);
  EXPECT_DOUBLE_EQ(timing.p99_us, 9);
}

TEST(SummarizeTest, ComputesMedianAndPercentile) {
  std::vector<Instant> times;
  for (int i = 1000; i >= 1; --i) times.push_back(microseconds(i));
  const Timing timing = Summarize({times});
  EXPECT_DOUBLE_EQ(timing.median_us, 500);
  EXPECT_DOUBLE_EQ(timing.p99_us, 990);
  EXPECT_DOUBLE_EQ(Summarize({{microseconds(7)}}).median_us, 7);
}

TEST(BatchForTest, RunsOnlyShortOperationsInBatches) {
  EXPECT_EQ(BatchFor(Instant(0), false), 2000u);
  EXPECT_EQ(BatchFor(Instant(100), false), 30u);
  EXPECT_EQ(BatchFor(Instant(1500), false), 2u);
  EXPECT_EQ(BatchFor(microseconds(3), false), 1u);
  EXPECT_EQ(BatchFor(milliseconds(3), false), 1u);
}

TEST(BatchForTest, RanksThatTakeTurnsRunLongerBatches) {
  EXPECT_EQ(BatchFor(Instant(100), true), 2000u);
  EXPECT_EQ(BatchFor(microseconds(10), true), 50u);
  EXPECT_EQ(BatchFor(milliseconds(3), true), 1u);
}

}  // namespace
}  // namespace ringlet::cli
