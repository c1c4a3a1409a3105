#include "ringlet/status.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace ringlet {
namespace {

Error Bad() {
  return Error{Code::kTimeout, "rank 3 is late"};
}

TEST(Code, EveryCodeHasItsOwnName) {
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(Code::kAborted); ++i)
    EXPECT_TRUE(words.insert(CodeName(static_cast<Code>(i))).second) << i;
  EXPECT_FALSE(words.contains("unknown"));
  EXPECT_EQ(std::string(CodeName(Code::kPeerLost)), "peer lost");
}

TEST(Result, ContainsAValueOrAnError) {
  const Result<int> value = 7;
  EXPECT_TRUE(value.ok());
  EXPECT_TRUE(static_cast<bool>(value));
  EXPECT_EQ(*value, 7);
  const Result<int> error = Bad();
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.error().code, Code::kTimeout);
  EXPECT_EQ(error.error().message, "rank 3 is late");
  EXPECT_EQ(error.error().os_errno, 0);
}

TEST(Result, ReportsTheSourceLineOfItsError) {
  const Error error = Bad();
  EXPECT_NE(std::string(error.file).find("status_test.cpp"), std::string::npos);
  EXPECT_GT(error.line, 0);
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, CopiesAndMovesValuesAndErrors) {
  const Result<std::string> error = Bad(), value = std::string(100, 'v');
  for (const auto& from : {error, value}) {
    for (Result<std::string> to : {error, value}) {
      to = from;
      EXPECT_EQ(to.ok(), from.ok());
      Result<std::string> moved = std::move(to);
      ASSERT_EQ(moved.ok(), from.ok());
      if (from.ok())
        EXPECT_EQ(*moved, *from);
      else
        EXPECT_EQ(moved.error().message, from.error().message);
      to = value;  // after a move, a Result takes another value
      EXPECT_EQ(*to, *value);
    }
  }
  Result<std::string> copy = error;
  copy.error().message = "changed";
  EXPECT_EQ(error.error().message, "rank 3 is late");
}

Status Fails() {
  return Bad();
}
Result<int> Half(int value) {
  if (value % 2 != 0) return Error{Code::kInvalidArgument, "odd"};
  return value / 2;
}
Result<int> Quarter(int value, int& reached) {
  RINGLET_TRY(Ok());
  RINGLET_TRY_ASSIGN(const int half, Half(value));
  reached = 1;
  RINGLET_TRY_ASSIGN(const int quarter, Half(half));
  reached = 2;
  return quarter;
}

TEST(Try, ReturnsTheFirstErrorAndBindsValues) {
  int reached = 0;
  EXPECT_EQ(*Quarter(8, reached), 2);
  EXPECT_EQ(reached, 2);
  reached = 0;
  EXPECT_EQ(Quarter(6, reached).error().message, "odd");
  EXPECT_EQ(reached, 1);
  const auto outer = []() -> Result<std::string> {
    RINGLET_TRY(Fails());
    return std::string("never");
  };
  EXPECT_EQ(outer().error().message, "rank 3 is late");
}

TEST(ResultDeathTest, TakingTheValueOfAnErrorAbortsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Result<int> error = Bad();
  EXPECT_DEATH({ [[maybe_unused]] const int value = error.value(); }, "broken invariant: ok_");
  EXPECT_DEATH(RINGLET_ASSERT(1 + 1 == 3), "1 \\+ 1 == 3 at .*status_test.cpp");
}

}  // namespace
}  // namespace ringlet
