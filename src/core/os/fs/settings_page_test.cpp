// Compares docs/reference/settings.md with the registry. Here because base must not read files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/settings/settings_text.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/env.hpp"

namespace ringlet::os {
namespace {

TEST(SettingsPageTest, MatchesTheSettingTable) {
  const std::filesystem::path source = std::filesystem::absolute(__FILE__);
  const auto root = source.parent_path().parent_path().parent_path().parent_path().parent_path();
  if (ReadEnvironment().contains("RINGLET_UPDATE_GOLDENS")) {
    std::filesystem::create_directories(root / "docs");
    std::ofstream(root / "docs/reference/settings.md") << SettingsMarkdown();
  }
  const auto page = FileTree::Open(root.string())->Read("docs/reference/settings.md");
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(*page, SettingsMarkdown()) << "renew it: RINGLET_UPDATE_GOLDENS=1 os_test";
}

}  // namespace
}  // namespace ringlet::os
