// Tests the oracle's own parts. CMakeLists.txt tests that it detects a library that lies.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "content.hpp"
#include "draw.hpp"
#include "numbers.hpp"
#include "reference.hpp"
#include "shrink.hpp"

namespace oracle {
namespace {

TEST(Program, RoundTripsThroughText) {
  for (const Layout& layout : Layouts())
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const std::string text = ToText(Draw(seed, layout, {}));
      EXPECT_EQ(ToText(Parse(text)), text) << "seed " << seed;
    }
}

TEST(Program, DrawnProgramsAreValid) {
  for (const Layout& layout : Layouts())
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      const Program program = Draw(seed, layout, {});
      EXPECT_EQ(ToText(Normalised(program)), ToText(program)) << "seed " << seed;
      EXPECT_GE(CountCalls(program), 40u);
    }
}

TEST(Program, AFewSeedsDrawEveryCircumstance) {
  std::size_t calls[kAmongs] = {};
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (int i = 0; i < kAmongs; ++i)
      calls[i] += CountCalls(Draw(seed, *FindLayout("fork"), {}), static_cast<Among>(i));
  EXPECT_THAT(calls, testing::Each(testing::Gt(0u)));
}

TEST(Program, MistakesInTextNameTheLine) {
  EXPECT_THAT([] { Parse("seed 1\nrun\n  all_reduce type=int7\n"); },
              testing::ThrowsMessage<std::runtime_error>("line 3: int7 is not known"));
}

TEST(Simplifications, GiveValidPrograms) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Program program = Draw(seed, *FindLayout("mixed"), {});
    for (const Simpler& simpler : Simplifications(program)) {
      Program candidate = program;
      if (!simpler(candidate)) continue;
      candidate = Normalised(candidate);
      EXPECT_EQ(ToText(Parse(ToText(candidate))), ToText(candidate)) << "seed " << seed;
      EXPECT_LE(candidate.steps.size(), program.steps.size());
    }
  }
}

TEST(Simplifications, RemovingARankRemovesItFromAllCalls) {
  const Program program = Parse(
      "seed 1\nlayout fork\nplaces 0/0 1/0 2/0\n"
      "form comm=0 ranks=2,0,1\n"
      "split comm=0 made=1 colors=1,0,0 keys=5,6,7\n"
      "run\n  bcast id=1 comm=0 type=int8 count=3 root=2\n");
  EXPECT_EQ(ToText(WithoutLastRank(program)),
            "seed 1\nlayout fork\nplaces 0/0 1/0\n"
            "form comm=0 ranks=0,1\n"
            "split comm=0 made=1 colors=0,0 keys=6,7\n"
            "run\n  bcast id=1 comm=0 type=int8 count=3 root=1\n");
}

TEST(Numbers, NarrowFormatsMatchTheirDefinitions) {
  EXPECT_EQ(Decode(Type::kFloat16, 0x3c00), 1);
  EXPECT_EQ(Decode(Type::kFloat16, 0xc000), -2);
  EXPECT_EQ(Decode(Type::kFloat16, 0x7bff), 65504);
  EXPECT_EQ(Decode(Type::kFloat16, 0x0001), std::ldexp(1.0L, -24));
  EXPECT_EQ(Decode(Type::kFloat16, 0x7c00), std::numeric_limits<long double>::infinity());
  EXPECT_EQ(Decode(Type::kBfloat16, 0x3f80), 1);
  EXPECT_EQ(Decode(Type::kFloat8e4m3, 0x38), 1);
  EXPECT_EQ(Decode(Type::kFloat8e4m3, 0x7e), 448);
  EXPECT_TRUE(std::isnan(Decode(Type::kFloat8e4m3, 0xff)));
  EXPECT_EQ(Decode(Type::kFloat8e4m3, 0x01), std::ldexp(1.0L, -9));
  EXPECT_EQ(Decode(Type::kFloat8e5m2, 0x7b), 57344);
  EXPECT_TRUE(std::isinf(Decode(Type::kFloat8e5m2, 0xfc)));
  EXPECT_TRUE(std::isnan(Decode(Type::kFloat8e5m2, 0x7d)));
}

TEST(Numbers, ExactValuesRoundTrip) {
  for (int type = static_cast<int>(Type::kFloat16); type < kTypes; ++type)
    for (const double value : {0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 7.0, -8.0})
      EXPECT_EQ(Decode(static_cast<Type>(type), EncodeExact(static_cast<Type>(type), value)),
                value);
}

/// The output of rank 1 of 2 in an all-reduce of int32, computed by hand.
struct Small {
  Call call{.id = 7, .type = Type::kInt32, .count = 5};
  std::vector<std::uint32_t> right;

  Small() {
    const Content content(3, call, 2);
    for (std::size_t i = 0; i < call.count; ++i)
      right.push_back(static_cast<std::uint32_t>(content.Element(0, i) + content.Element(1, i)));
  }
  auto Compare() const {
    return oracle::Compare(3, call, 2, 1, reinterpret_cast<const std::byte*>(right.data()));
  }
};

TEST(Reference, AcceptsRightResults) {
  EXPECT_EQ(Small().Compare(), std::nullopt);
}

TEST(Reference, NamesTheFirstWrongElement) {
  Small small;
  small.right[2] ^= 1;
  small.right[4] ^= 1;
  EXPECT_THAT(small.Compare().value_or(""),
              testing::StartsWith("2 of 5 elements are wrong, the first one is 2: "));
}

TEST(Reference, AFloatOffByMoreThanTheBoundIsWrong) {
  const Call call{.id = 1, .type = Type::kFloat32, .count = 1, .values = Values::kWide};
  const Content content(3, call, 2);
  const auto sum = static_cast<float>(Decode(call.type, content.Element(0, 0)) +
                                      Decode(call.type, content.Element(1, 0)));
  const auto compare = [&](float value) {
    std::byte bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    return Compare(3, call, 2, 0, bytes);
  };
  EXPECT_EQ(compare(sum), std::nullopt);
  EXPECT_NE(compare(sum * 1.0001f), std::nullopt);
  EXPECT_NE(compare(std::numeric_limits<float>::quiet_NaN()), std::nullopt);
}

}  // namespace
}  // namespace oracle
