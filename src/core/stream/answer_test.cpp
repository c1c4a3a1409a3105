#include "stream/answer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ringlet::stream {
namespace {

TEST(Answer, EachResultHasAUniqueName) {
  std::set<std::string> names;
  for (int i = 0; i < ringletResults; ++i) {
    const std::string name = ResultName(static_cast<ringletResult_t>(i));
    EXPECT_EQ(name.rfind("ringlet", 0), 0u) << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_STREQ(ResultName(ringletResults), "not a ringletResult_t");
}

TEST(Answer, TheFirstErrorIsReturned) {
  const auto both = [](Answer first) -> Answer {
    RINGLET_ANSWER(first);
    return {ringletNotReady, "second"};
  };
  EXPECT_EQ(both({ringletFailed, "first"}).why, "first");
  EXPECT_EQ(both({}).why, "second");
}

}  // namespace
}  // namespace ringlet::stream
