#include "comm/process/process_of_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

EnvMap WithTimeout(int seconds) {
  return {{"RINGLET_DEBUG", "NONE"}, {"RINGLET_TIMEOUT", std::to_string(seconds)}};
}

TEST(ProcessOfProgram, HasAProcessPerEnvironment) {
  const auto first = ProcessOfProgram(WithTimeout(1)), other = ProcessOfProgram(WithTimeout(2));
  ASSERT_TRUE(first.ok() && other.ok());
  EXPECT_EQ(*first, *ProcessOfProgram(WithTimeout(1)));
  EXPECT_NE(*first, *other);
  EXPECT_EQ((*first)->settings().timeout, std::chrono::seconds(1));
  EXPECT_EQ((*other)->settings().timeout, std::chrono::seconds(2));
}

TEST(ProcessOfProgram, ReportsAWrongSettingEachTime) {
  for (int i = 0; i < 2; ++i) {
    const auto wrong = ProcessOfProgram({{"RINGLET_TIMEOUT", "soon"}});
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
    EXPECT_THAT(wrong.error().message, HasSubstr("RINGLET_TIMEOUT"));
  }
}

TEST(ProcessOfProgram, EndUnusedEndsOnlyUnusedProcesses) {
  const auto number_now = [] {
    return (*ProcessOfProgramForSettings(WithTimeout(5)))->facts().process_hash;
  };
  const std::uint64_t looked_at = number_now();
  EXPECT_EQ(number_now(), looked_at);
  EndIfUnused(WithTimeout(5));
  const std::uint64_t used = (*ProcessOfProgram(WithTimeout(5)))->facts().process_hash;
  EXPECT_NE(used, looked_at);
  EndIfUnused(WithTimeout(5));
  EXPECT_EQ(number_now(), used);
}

// Runs in a child, which does not have processes yet, so that the other tests keep theirs.
TEST(ProcessOfProgram, StartsNewProcessesInAForkedChildUpToALimit) {
  ASSERT_TRUE(ProcessOfProgram(WithTimeout(3)).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    for (std::size_t i = 0; i < kEnvironmentsMax; ++i)
      if (!ProcessOfProgram(WithTimeout(static_cast<int>(i) + 1)).ok()) ::_exit(1);
    const auto refused = ProcessOfProgram(WithTimeout(100));
    if (refused.ok() || refused.error().code != Code::kUnsupported) ::_exit(2);
    ::_exit(ProcessOfProgram(WithTimeout(3)).ok() ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringlet::comm
