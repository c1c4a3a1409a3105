#include "emulate/host/parameters.hpp"

#include <gmock/gmock.h>

namespace ringlet::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(ParametersTest, DemanglesNames) {
  EXPECT_EQ(Demangled("_Z5scalePfi"), "scale(float*, int)");
  EXPECT_EQ(Demangled("_Z4fillIfEvPT_S0_"), "void fill<float>(float*, float)");
  EXPECT_EQ(Demangled("scale"), "scale");
}

TEST(ParametersTest, TheBareNameOmitsResultAndParameters) {
  EXPECT_EQ(BareName("scale(float*, int)"), "scale");
  EXPECT_EQ(BareName("void fill<float, (Mode)1>(float*, float)"), "fill<float, (Mode)1>");
  EXPECT_EQ(BareName("void a::b<int>(void (*)(int), int)"), "a::b<int>");
  EXPECT_EQ(BareName("scale"), "scale");
}

TEST(ParametersTest, DerivesSizesOfPointersAndNumbers) {
  EXPECT_THAT(ParameterSizes("scale(float*, int)"), Optional(ElementsAre(8, 4)));
  EXPECT_THAT(ParameterSizes("void f<a::b<int, 2> >(a::b<int, 2> const*, unsigned long, bool, "
                             "double, short, signed char)"),
              Optional(ElementsAre(8, 8, 1, 8, 2, 1)));
  EXPECT_THAT(ParameterSizes("call(void (*)(int, float), char const* const)"),
              Optional(ElementsAre(8, 8)));
  EXPECT_THAT(ParameterSizes("nothing()"), Optional(IsEmpty()));
}

TEST(ParametersTest, ReturnsNoSizesForOtherTypes) {
  EXPECT_EQ(ParameterSizes("take(Options)"), std::nullopt);
  EXPECT_EQ(ParameterSizes("take(float*, Pair<float*>)"), std::nullopt);
  EXPECT_EQ(ParameterSizes("scale"), std::nullopt);
  EXPECT_EQ(ParameterSizes(")"), std::nullopt);
  EXPECT_EQ(ParameterSizes(""), std::nullopt);
}

}  // namespace
}  // namespace ringlet::cuda
