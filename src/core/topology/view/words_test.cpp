#include "topology/view/words.hpp"

#include <gmock/gmock.h>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

TEST(WordsTest, SplitsAtSpaceButNotInQuotes) {
  EXPECT_THAT(*Words("  net \"a b\"\tspeed 10 "), ElementsAre("net", "a b", "speed", "10"));
  EXPECT_THAT(*Words("\"\""), ElementsAre(""));
  EXPECT_TRUE(Words("")->empty());
}

TEST(WordsTest, ReadsQuotedText) {
  const std::string odd = "a\"b\\c\nd\x01 \xc3\xa4";
  EXPECT_THAT(*Words(Quoted(odd)), ElementsAre(odd));
}

TEST(WordsTest, RefusesBrokenQuotes) {
  for (const char* line :
       {"\"a", "\"a\\", "\"\\x\"", "\"\\u00\"", "\"\\u00ff\"", "\"\\u00zz\"", "\"a\"b"})
    EXPECT_EQ(Words(line), std::nullopt) << line;
}

}  // namespace
}  // namespace ringlet::topology
