#include "os/fs/conf_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::os {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfFiles : public testing::Test {
 protected:
  ConfFiles() {
    tree_.Write("etc/nccl.conf", "NCCL_DEBUG=WARN\nNCCL_ALGO=ring\n");
    tree_.Write("home/.nccl.conf", "NCCL_DEBUG=INFO\n");
    tree_.Write("mine.conf", "NCCL_DEBUG=TRACE\n");
  }
  FileVariables Read(const EnvMap& env) const { return ReadConfFiles(env, tree_.root()); }
  std::string Debug(const EnvMap& env) const { return Read(env).values.at("NCCL_DEBUG").value; }

  TempTree tree_;
};

TEST_F(ConfFiles, TheUsersFileOverridesTheSystems) {
  const EnvMap home = {{"HOME", tree_.At("home")}};
  EXPECT_EQ(Debug(home), "INFO");
  EXPECT_EQ(Debug({{"HOME", tree_.At("home") + "/"}}), "INFO");
  EXPECT_EQ(Read(home).values.at("NCCL_ALGO").path, tree_.At("etc/nccl.conf"));
  EXPECT_EQ(Debug({}), "WARN");
  EXPECT_THAT(Read(home).warnings, IsEmpty());
}

TEST_F(ConfFiles, ANamedFileReplacesTheUsersFile) {
  EXPECT_EQ(Debug({{"HOME", tree_.At("home")}, {"NCCL_CONF_FILE", tree_.At("mine.conf")}}),
            "TRACE");
  tree_.Write("mine.conf", "");
  EXPECT_EQ(Debug({{"HOME", tree_.At("home")}, {"NCCL_CONF_FILE", tree_.At("mine.conf")}}), "WARN");
}

TEST_F(ConfFiles, ALinkIsFollowedOutOfTheHome) {
  tree_.Link("other/.nccl.conf", tree_.At("mine.conf"));
  EXPECT_EQ(Debug({{"HOME", tree_.At("other")}}), "TRACE");
}

TEST_F(ConfFiles, OnlyANamedFileMustExist) {
  EXPECT_THAT(Read({{"HOME", tree_.At("nowhere")}}).warnings, IsEmpty());
  EXPECT_THAT(Read({{"NCCL_CONF_FILE", tree_.At("nowhere")}}).warnings,
              ElementsAre(AllOf(HasSubstr("NCCL_CONF_FILE names"), HasSubstr("nowhere"))));
  EXPECT_THAT(Read({{"NCCL_CONF_FILE", tree_.At("home")}}).warnings,
              ElementsAre(HasSubstr("home")));
}

TEST_F(ConfFiles, ATooLargeFileIsNotRead) {
  tree_.Write("mine.conf", "NCCL_DEBUG=INFO\n" + std::string(std::size_t{1} << 20, '#'));
  const FileVariables files = Read({{"NCCL_CONF_FILE", tree_.At("mine.conf")}});
  EXPECT_THAT(files.warnings, ElementsAre(HasSubstr("mine.conf")));
  EXPECT_EQ(files.values.at("NCCL_DEBUG").value, "WARN");
}

TEST_F(ConfFiles, SettingsAreParsedFromThem) {
  const Settings settings = ReadSettings({{"NCCL_CONF_FILE", tree_.At("mine.conf")}}).value();
  EXPECT_EQ(settings.debug, LogLevel::kTrace);
}

}  // namespace
}  // namespace ringlet::os
