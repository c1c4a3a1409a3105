#include "tool/emulate/emulated_environment.hpp"

#include <gmock/gmock.h>

#include <set>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

Result<EmulateFolders> FoldersAmong(const std::string& tool, const std::set<std::string>& files) {
  return FindEmulateFolders(tool, "../lib/x86_64-linux-gnu",
                            [&](const std::string& path) { return files.contains(path); });
}

TEST(EmulateFoldersTest, FindsTheFoldersOfABuildTree) {
  const auto found = FoldersAmong("/home/me/ringlet/build/bin/ringlet",
                                  {"/home/me/ringlet/build/emulate/libcudart.so.13",
                                   "/home/me/ringlet/build/compat/libnccl.so.2"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->emulate, "/home/me/ringlet/build/emulate");
  EXPECT_EQ(found->compat, "/home/me/ringlet/build/compat");
  EXPECT_EQ(found->library, "/home/me/ringlet/build/lib");
}

TEST(EmulateFoldersTest, FindsTheFoldersOfAnInstallation) {
  const std::string library = "/lib/x86_64-linux-gnu";
  const auto found =
      FoldersAmong("/usr/bin/ringlet", {"/usr" + library + "/ringlet/emulate/libcudart.so.13",
                                        "/usr" + library + "/ringlet/compat/libnccl.so.2"});
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->emulate, "/usr" + library + "/ringlet/emulate");
  EXPECT_EQ(found->library, "/usr" + library);
}

TEST(EmulateFoldersTest, MissingFoldersAreAnErrorThatNamesTheTool) {
  const auto found = FoldersAmong("/usr/bin/ringlet", {"/usr/emulate/libcudart.so.13"});
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("/usr/bin/ringlet"));
}

const EmulateFolders kFolders{"/r/emulate", "/r/compat", "/r/lib"};

TEST(EmulatedEnvironmentTest, OurLibrariesPrecedeThoseOfTheUser) {
  const auto made = EmulatedEnvironment(
      {{"PATH", "/bin"}, {"LD_LIBRARY_PATH", "/mine"}, {"LD_PRELOAD", "/mine/a.so"}}, kFolders,
      {.devices = 4, .memory_bytes = 1 << 20, .kernels = {"/k/a.so", "/k/b.so"}});
  ASSERT_TRUE(made.ok()) << made.error().message;
  const EnvMap expected{
      {"PATH", "/bin"},
      {"LD_LIBRARY_PATH", "/r/emulate:/r/compat:/r/lib:/mine"},
      {"LD_PRELOAD",
       "/r/compat/libnccl.so.2:/r/emulate/libcudart.so.13:/r/emulate/libcudart.so.12:/mine/a.so"},
      {"RINGLET_EMULATE_DEVICES", "4"},
      {"RINGLET_EMULATE_MEMORY", "1048576"},
      {"RINGLET_EMULATE_KERNELS", "/k/a.so:/k/b.so"}};
  EXPECT_EQ(*made, expected);
}

TEST(EmulatedEnvironmentTest, MemoryAndKernelsAreOptional) {
  const auto made = EmulatedEnvironment({}, kFolders, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->at("RINGLET_EMULATE_DEVICES"), "8");
  EXPECT_FALSE(made->contains("RINGLET_EMULATE_MEMORY"));
  EXPECT_FALSE(made->contains("RINGLET_EMULATE_KERNELS"));
}

TEST(EmulatedEnvironmentTest, SetsTheMachineAndDefaultsToTheCompatPolicy) {
  const EmulatedMachine machine{.devices = 2, .topology = "/m/mine.xml"};
  auto made = EmulatedEnvironment({}, kFolders, machine);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->at("RINGLET_MACHINE"), "/m/mine.xml");
  EXPECT_EQ(made->at("RINGLET_PLAN_POLICY"), "compat");
  made = EmulatedEnvironment({{"RINGLET_PLAN_POLICY", "best"}}, kFolders, machine);
  EXPECT_EQ(made->at("RINGLET_PLAN_POLICY"), "best");
  made = EmulatedEnvironment({{"RINGLET_PLAN_POLICY", "best"}}, kFolders,
                             {.topology = "/m/mine.xml", .policy = "compat"});
  EXPECT_EQ(made->at("RINGLET_PLAN_POLICY"), "compat");
  EXPECT_FALSE(EmulatedEnvironment({}, kFolders, {})->contains("RINGLET_PLAN_POLICY"));
}

TEST(SpreadRanksTest, SpreadsRanksEvenlyOrRefuses) {
  EXPECT_EQ(SpreadRanks(8, 2)->ranks, 8u);
  EXPECT_EQ(SpreadRanks({}, 3)->ranks, 3u);
  const auto odd = SpreadRanks(7, 2);
  ASSERT_FALSE(odd.ok());
  EXPECT_THAT(odd.error().message, HasSubstr("-n 8"));
}

TEST(EmulatedHostTest, EachHostHasItsOwnHostId) {
  const EnvMap first = EmulatedHostEnvironment({}, 0, 2, "a1");
  const EnvMap second = EmulatedHostEnvironment({}, 1, 2, "a1");
  EXPECT_NE(first.at("RINGLET_HOSTID"), second.at("RINGLET_HOSTID"));
  EXPECT_NE(first.at("RINGLET_HOSTID"),
            EmulatedHostEnvironment({}, 0, 2, "a2").at("RINGLET_HOSTID"));
  EXPECT_EQ(second.at("RINGLET_EMULATE_HOST"), "1");
  EXPECT_FALSE(EmulatedHostEnvironment({}, 0, 1, "a1").contains("RINGLET_HOSTID"));
}

TEST(EmulatedEnvironmentTest, RefusesPathsThatTheLoaderSplits) {
  for (const char* folder : {"/a b", "/a:b", "/a;b"})
    EXPECT_FALSE(EmulatedEnvironment({}, {folder, "/r/compat", "/r/lib"}, {}).ok()) << folder;
  const auto made = EmulatedEnvironment({}, kFolders, {.kernels = {"/a:b.so"}});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("/a:b.so"));
}

TEST(EmulatedEnvironmentTest, FaultsReportsAndPaceReachTheProgram) {
  const auto made = EmulatedEnvironment(
      {}, kFolders, {.pace = true, .traffic = "/t", .fault = "3@all_reduce:10"});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->at("RINGLET_PACE"), "1");
  EXPECT_EQ(made->at("RINGLET_TRAFFIC_DIR"), "/t");
  EXPECT_EQ(made->at("RINGLET_FAULT"), "3@all_reduce:10");
}

}  // namespace
}  // namespace ringlet::cli
