#include "comm/plugin/plugin_library.hpp"

#include <gmock/gmock.h>

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kSpoken[] = {6, 5};
constexpr int kUnspoken[] = {4, 3, 2, 1};
constexpr PluginKind kTestedKind{.file_prefix = "libnccl-profiler",
                                 .symbol_prefix = "ncclProfiler_v",
                                 .versions = kSpoken,
                                 .not_versions = kUnspoken};

std::string FileOf(const char* name) {
  return std::string(RINGLET_TEST_PLUGINS "libnccl-profiler-") + name + ".so";
}

TEST(PluginLibrary, AValueIsAFileOrASuffixOfItsName) {
  EXPECT_THAT(PluginFiles(kTestedKind, "abc"), ElementsAre("abc", "libnccl-profiler-abc.so"));
  EXPECT_THAT(PluginFiles(kTestedKind, "libabc.so"), ElementsAre("libabc.so"));
  EXPECT_THAT(PluginFiles(kTestedKind, "./abc"), ElementsAre("./abc"));
  EXPECT_THAT(PluginFiles(kTestedKind, ""), IsEmpty());
  EXPECT_THAT(PluginFiles(kTestedKind, "NONE"), IsEmpty());
}

TEST(PluginLibrary, LoadsTheNewestVersionOfALibrary) {
  const auto six = LoadPlugin(kTestedKind, FileOf("six"));
  ASSERT_TRUE(six.ok()) << six.error().message;
  EXPECT_EQ(six->version, 6);
  EXPECT_NE(six->table, nullptr);
  EXPECT_EQ(LoadPlugin(kTestedKind, FileOf("five"))->version, 5);
}

TEST(PluginLibrary, NamesAFileThatCannotBeLoaded) {
  EXPECT_THAT(LoadPlugin(kTestedKind, "no-such").error().message,
              AllOf(HasSubstr("libnccl-profiler-no-such.so"), testing::Not(HasSubstr("\n"))));
  EXPECT_THAT(LoadPlugin(kTestedKind, "/dev/null").error().message, HasSubstr("/dev/null"));
}

TEST(PluginLibrary, RefusesAnUnsupportedVersionByName) {
  EXPECT_THAT(LoadPlugin(kTestedKind, FileOf("four")).error().message,
              HasSubstr("has ncclProfiler_v4, and Ringlet supports ncclProfiler_v6, "
                        "ncclProfiler_v5 only"));
  EXPECT_THAT(LoadPlugin(kTestedKind, "libm.so.6").error().message, HasSubstr("no such plug-in"));
}

}  // namespace
}  // namespace ringlet::comm
