#include "base/settings/settings_text.hpp"

#include <gmock/gmock.h>

namespace ringlet {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const Settings& Sample() {
  static const Settings settings =
      ParseSettings(
          {{"NCCL_DEBUG", "INFO"}, {"RINGLET_SECRET", "hush-hush"}, {"RINGLET_COMM_ID", "a\"b"}})
          .value();
  return settings;
}

TEST(SettingsTextTest, TableShowsValueOriginAndDefault) {
  const std::string text = SettingsTable(Sample());
  EXPECT_THAT(text, ContainsRegex("RINGLET_DEBUG +INFO +NCCL_DEBUG +WARN +Level"));
  EXPECT_THAT(text, ContainsRegex("RINGLET_TIMEOUT +1800 s +default +1800 s +Time"));
  EXPECT_THAT(text, ContainsRegex("RINGLET_SECRET +.set. +RINGLET_SECRET +- "));
  const std::size_t row = text.find("\nRINGLET_DEBUG ") + 1;
  EXPECT_EQ(text.find("VALUE"), text.find("INFO", row) - row) << "columns stand below each other";
}

TEST(SettingsTextTest, JsonEscapesValuesAndListsAliasAndAgreement) {
  const std::string text = SettingsJson(Sample());
  EXPECT_THAT(text, HasSubstr(R"("name": "RINGLET_COMM_ID", "value": "a\"b")"));
  EXPECT_THAT(text, HasSubstr(R"("nccl_alias": "NCCL_DEBUG", "must_agree": false)"));
  EXPECT_THAT(text, HasSubstr(R"("nccl_alias": "", "must_agree": true)"));
}

TEST(SettingsTextTest, NoFormatShowsASecret) {
  for (const std::string& text : {SettingsTable(Sample()), SettingsJson(Sample())})
    EXPECT_THAT(text, Not(HasSubstr("hush")));
}

TEST(SettingsTextTest, MarkdownHasARowForEachSetting) {
  EXPECT_THAT(SettingsMarkdown(),
              HasSubstr("| `RINGLET_TREE_ARITY` |  | 8 | an integer from 2 to 256 | yes |"));
}

}  // namespace
}  // namespace ringlet
