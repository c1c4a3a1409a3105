#include "tool/help/exit_status.hpp"

#include <gmock/gmock.h>

#include "tool/text/command.hpp"

namespace ringlet::cli {
namespace {

using testing::Contains;
using testing::Pair;

TEST(ExitStatusTest, EachStatusHasItsLine) {
  const auto meanings = ExitStatusMeanings();
  for (const char* status : {"0", "1", "2", "N", "127", "128+N"})
    EXPECT_THAT(meanings, Contains(Pair(status, testing::Not("")))) << status;
  EXPECT_EQ(meanings.size(), 6u);
}

}  // namespace
}  // namespace ringlet::cli
