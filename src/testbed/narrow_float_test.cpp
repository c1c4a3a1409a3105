#include "testbed/narrow_float.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/value/prng.hpp"

namespace ringlet::testbed {
namespace {

constexpr DataType kNarrowTypes[] = {DataType::kFloat16, DataType::kBfloat16, DataType::kFloat8e4m3,
                                     DataType::kFloat8e5m2};

class NarrowFloat : public testing::TestWithParam<DataType> {
 protected:
  const NarrowFormat format_ = FormatOf(GetParam());
  const std::uint32_t patterns_ = 1u << format_.bits();

  /// Returns the finite values from 0 upwards; the index is the bit pattern.
  std::vector<double> NonNegativeValues() const {
    std::vector<double> values;
    for (std::uint32_t bits = 0; std::isfinite(Widen(format_, static_cast<std::uint16_t>(bits)));
         ++bits) {
      values.push_back(Widen(format_, static_cast<std::uint16_t>(bits)));
    }
    return values;
  }
};

TEST_P(NarrowFloat, EveryPatternSurvivesARoundTrip) {
  for (std::uint32_t bits = 0; bits < patterns_; ++bits) {
    const double value = Widen(format_, static_cast<std::uint16_t>(bits));
    const std::uint16_t back = Narrow(format_, value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(Widen(format_, back))) << bits;
    } else {
      EXPECT_EQ(back, bits);
    }
  }
}

TEST_P(NarrowFloat, PatternsAscendWithTheirValues) {
  const std::vector<double> values = NonNegativeValues();
  for (std::size_t i = 1; i < values.size(); ++i) EXPECT_LT(values[i - 1], values[i]) << i;
}

TEST_P(NarrowFloat, RoundsToNearestAndTiesToEven) {
  const std::vector<double> values = NonNegativeValues();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double middle = (values[i] + values[i + 1]) / 2;
    const std::size_t even = i % 2 == 0 ? i : i + 1;
    EXPECT_EQ(Narrow(format_, middle), even) << i;
    EXPECT_EQ(Narrow(format_, std::nextafter(middle, 0)), i);
    EXPECT_EQ(Narrow(format_, std::nextafter(middle, values[i + 1])), i + 1);
    EXPECT_EQ(Narrow(format_, -std::nextafter(middle, 0)), i + patterns_ / 2);
  }
}

TEST_P(NarrowFloat, OverflowsToInfinityOrToTheLargestValue) {
  const std::vector<double> values = NonNegativeValues();
  const double largest = values.back();
  const double step = largest - values[values.size() - 2];
  const double infinity = std::numeric_limits<double>::infinity();
  const double expected = format_.has_infinity ? infinity : largest;
  EXPECT_EQ(Widen(format_, Narrow(format_, largest + step * 0.49)), largest);
  for (const double large : {largest + step * 0.51, largest * 2, largest * 64, 1e300, infinity}) {
    EXPECT_EQ(Widen(format_, Narrow(format_, large)), expected) << large;
    EXPECT_EQ(Widen(format_, Narrow(format_, -large)), -expected) << large;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, NarrowFloat, testing::ValuesIn(kNarrowTypes),
                         [](const auto& test) { return std::string(Name(test.param)); });

TEST(NarrowFloatValues, MatchTheSpecifications) {
  EXPECT_EQ(Widen(FormatOf(DataType::kFloat16), 0x7bff), 65504);
  EXPECT_EQ(Widen(FormatOf(DataType::kFloat16), 0x0001), 0x1p-24);
  EXPECT_EQ(Widen(FormatOf(DataType::kBfloat16), 0x3f80), 1);
  EXPECT_EQ(Widen(FormatOf(DataType::kFloat8e4m3), 0x7e), 448);
  EXPECT_EQ(Widen(FormatOf(DataType::kFloat8e4m3), 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(Widen(FormatOf(DataType::kFloat8e4m3), 0x7f)));
  EXPECT_EQ(Widen(FormatOf(DataType::kFloat8e5m2), 0x7b), 57344);
  EXPECT_EQ(Widen(FormatOf(DataType::kFloat8e5m2), 0x01), 0x1p-16);
  EXPECT_TRUE(std::isinf(Widen(FormatOf(DataType::kFloat8e5m2), 0x7c)));
}

}  // namespace
}  // namespace ringlet::testbed
