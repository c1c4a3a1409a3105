#include "base/settings/setting_table.hpp"

#include <gmock/gmock.h>

#include <set>

namespace ringlet {
namespace {

const SettingSpec& Named(std::string_view name) {
  for (const SettingSpec& spec : kSettings)
    if (spec.name == name) return spec;
  ADD_FAILURE() << name;
  return kSettings[0];
}

TEST(SettingTableTest, NamesAreUniqueAndEveryRowHasAHelpText) {
  std::set<std::string_view> names;
  for (const SettingSpec& spec : kSettings) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_TRUE(spec.help.ends_with(".")) << spec.name;
    EXPECT_EQ(spec.help.find('\n'), std::string_view::npos) << spec.name;
    EXPECT_NE(AllowedText(spec), "") << spec.name;
  }
}

TEST(SettingTableTest, DefaultsAreValidAndRoundTrip) {
  for (const SettingSpec& spec : kSettings) {
    const std::string text = ValueText(Settings(), spec);
    const Result<Settings> again = ParseSettings({{"RINGLET_" + std::string(spec.name), text}});
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(ValueText(*again, spec), text);
  }
}

TEST(SettingTableTest, ValueTextHasTheFormatOfTheEnvironment) {
  Settings settings;
  settings.init_timeout = std::chrono::milliseconds(1500);
  settings.links = LinkChoice::kShm;
  settings.rank = 7;
  EXPECT_EQ(ValueText(settings, Named("INIT_TIMEOUT")), "1.5");
  EXPECT_EQ(ValueText(settings, Named("LINKS")), "shm");
  EXPECT_EQ(ValueText(settings, Named("RANK")), "7");
  EXPECT_EQ(ValueText(settings, Named("WORLD_SIZE")), "");
  EXPECT_EQ(ValueText(settings, Named("DEBUG")), "WARN");
}

TEST(SettingTableTest, SecretsAreShownOnlyAsSet) {
  Settings settings;
  EXPECT_EQ(ValueText(settings, Named("SECRET")), "");
  settings.secret.text = settings.unique_id.text = "hush";
  EXPECT_EQ(ValueText(settings, Named("SECRET")), "(set)");
  EXPECT_EQ(ValueText(settings, Named("UNIQUE_ID")), "(set)");
}

TEST(SettingTableTest, OriginNamesTheVariable) {
  const Settings settings =
      ParseSettings({{"NCCL_DEBUG", "INFO"}, {"RINGLET_LINKS", "tcp"}}).value();
  EXPECT_EQ(OriginText(settings, Named("DEBUG")), "NCCL_DEBUG");
  EXPECT_EQ(OriginText(settings, Named("LINKS")), "RINGLET_LINKS");
  EXPECT_EQ(OriginText(settings, Named("TIMEOUT")), "default");
  EXPECT_EQ(OriginText(Settings(), Named("DEBUG")), "default");
}

TEST(SettingTableTest, AllowedTextStatesBoundsAndUnit) {
  EXPECT_EQ(AllowedText(Named("PIPE_BYTES")), "a power of two from 4096 to 67108864 bytes");
  EXPECT_EQ(AllowedText(Named("HANDSHAKE_TIMEOUT")),
            "seconds from 0.1 to 600, at most three decimals");
  EXPECT_EQ(
      AllowedText(Named("DEBUG_SUBSYS")),
      "a comma list of INIT,COLL,P2P,SHM,NET,GRAPH,TUNING,ENV,ALLOC,CALL,PROXY,NVLS,BOOTSTRAP,"
      "REG,PROFILE,RAS,DESTROY,ALLOC_HOST,ALL");
  EXPECT_EQ(AllowedText(Named("BOOTSTRAP")), "one of tree, ring");
}

}  // namespace
}  // namespace ringlet
