#include "comm/establish/renumber.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

// Ranks 1, 3 and 4 of six were excluded.
const std::vector<std::uint32_t> kNumbers = {0, 2, 5};

TEST(Renumbered, ReplacesSingleRanks) {
  EXPECT_EQ(Renumbered("rank 1 (host a1, pid 1) was lost; rank 2 noticed it", kNumbers),
            "rank 2 (host a1, pid 1) was lost; rank 5 noticed it");
  EXPECT_EQ(Renumbered("waiting for the answer of rank 2", kNumbers),
            "waiting for the answer of rank 5");
}

TEST(Renumbered, ReplacesListsAndRanges) {
  EXPECT_EQ(Renumbered("on ranks 1,2, and so on", kNumbers), "on ranks 2,5, and so on");
  EXPECT_EQ(Renumbered("ranks 0-2: none", kNumbers), "ranks 0,2,5: none");
  EXPECT_EQ(Renumbered("ranks 2 and 1 are one", kNumbers), "ranks 2,5 are one");
  EXPECT_EQ(Renumbered("ranks 0, 1, 7", kNumbers), "ranks 0,2, 7");
}

TEST(Renumbered, LeavesOtherNumbersUnchanged) {
  for (const char* text : {"", "rank", "rank ", "ranks differ", "rank 3 of none", "franks 1",
                           "RANK=1", "1 of 2 ranks", "the port 1, the rank of it"})
    EXPECT_EQ(Renumbered(text, kNumbers), text);
}

}  // namespace
}  // namespace ringlet::comm
