#include "base/value/choice_list.hpp"

#include <gmock/gmock.h>

namespace ringlet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ChoiceList, HasAGeneralEntryAndAnEntryPerFunction) {
  const auto entries = ParseChoiceList(" ring, tree ;reduce: ^ pat", "X").value();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].subject, "");
  EXPECT_EQ(entries[0].list, "ring, tree");
  EXPECT_FALSE(entries[0].all_but);
  EXPECT_THAT(entries[0].names, ElementsAre("ring", "tree"));
  EXPECT_EQ(entries[1].subject, "reduce");
  EXPECT_TRUE(entries[1].all_but);
  EXPECT_THAT(entries[1].names, ElementsAre("pat"));
  EXPECT_TRUE(ParseChoiceList(" ", "X")->empty());
}

TEST(ChoiceList, RefusesAGeneralListAfterTheFirstPlace) {
  EXPECT_EQ(ParseChoiceList("a:b;c", "X").error().message,
            "X has \"c\", but only the first list may omit its function");
  EXPECT_THAT(ParseChoiceList(":b", "X").error().message, HasSubstr("before the colon"));
}

TEST(ChoiceList, AllowsTheNamedChoicesOrAllOthers) {
  const auto number_of = [](std::string_view name) -> Result<std::size_t> {
    if (name.size() == 1 && name[0] >= '0' && name[0] <= '3')
      return static_cast<std::size_t>(name[0] - '0');
    return BadChoice("X", name, "it must be a digit");
  };
  const auto allowed = [&](std::string_view text) {
    return AllowedBy<4>(ParseChoiceList(text, "X").value().front(), number_of);
  };
  EXPECT_EQ(allowed("0,2")->to_string(), "0101");
  EXPECT_EQ(allowed("^0,2")->to_string(), "1010");
  EXPECT_EQ(allowed("0,9").error().message, "X has \"9\", but it must be a digit");
}

}  // namespace
}  // namespace ringlet
