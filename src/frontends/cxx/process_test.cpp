#include "frontends/cxx/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace ringlet::cxx {
namespace {

using testing::HasSubstr;

EnvMap WithTimeout(int seconds) {
  return {{"RINGLET_DEBUG", "NONE"}, {"RINGLET_TIMEOUT", std::to_string(seconds)}};
}

TEST(ProcessWith, GivesEachEnvironmentOneProcess) {
  const auto first = ProcessWith(WithTimeout(1)), other = ProcessWith(WithTimeout(2));
  ASSERT_TRUE(first.ok() && other.ok());
  EXPECT_EQ(*first, *ProcessWith(WithTimeout(1)));
  EXPECT_NE(*first, *other);
  EXPECT_EQ((*first)->settings().timeout, std::chrono::seconds(1));
  EXPECT_EQ((*other)->settings().timeout, std::chrono::seconds(2));
}

TEST(ProcessWith, ReportsAWrongSettingEachTime) {
  for (int i = 0; i < 2; ++i) {
    const auto wrong = ProcessWith({{"RINGLET_TIMEOUT", "soon"}});
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
    EXPECT_THAT(wrong.error().message, HasSubstr("RINGLET_TIMEOUT"));
  }
}

// In a child, which has none yet, so that the other tests keep theirs.
TEST(ProcessWith, BeginsAnewInTheChildOfAForkAndHasALimit) {
  ASSERT_TRUE(ProcessWith(WithTimeout(3)).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::size_t i = 0; i < kEnvironmentsMax; ++i)
      if (!ProcessWith(WithTimeout(static_cast<int>(i) + 1)).ok()) ::_exit(1);
    const auto refused = ProcessWith(WithTimeout(100));
    if (refused.ok() || refused.error().code != Code::kUnsupported) ::_exit(2);
    ::_exit(ProcessWith(WithTimeout(3)).ok() ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringlet::cxx
