#include "base/settings/conf_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(ConfFile, LinesSetVariablesAndTheFirstLineWins) {
  FileVariables files;
  files.Add("# a comment\nNCCL_DEBUG=INFO\r\n\nRINGLET_SECRET=a=b c\nNCCL_DEBUG=TRACE",
            "/home/.conf");
  files.Add("NCCL_DEBUG=WARN\nNCCL_ALGO=\n", "/etc/nccl.conf");
  EXPECT_THAT(files.values,
              ElementsAre(Pair("NCCL_ALGO", FileVariable{"", "/etc/nccl.conf"}),
                          Pair("NCCL_DEBUG", FileVariable{"INFO", "/home/.conf"}),
                          Pair("RINGLET_SECRET", FileVariable{"a=b c", "/home/.conf"})));
  EXPECT_THAT(files.warnings, IsEmpty());
}

TEST(ConfFile, WarnsOfInvalidLinesByNumber) {
  FileVariables files;
  files.Add("NCCL_DEBUG INFO\n=3\nNCCL_ALGO=" + std::string(kConfLineBytesMax, 'x') + "\n", "c");
  EXPECT_THAT(files.values, IsEmpty());
  EXPECT_THAT(files.warnings,
              ElementsAre(AllOf(HasSubstr("c:1 is ignored"), HasSubstr("\"NCCL_DEBUG INFO\"")),
                          HasSubstr("c:2 is ignored"), AllOf(HasSubstr("c:3"), HasSubstr("4095"))));
}

TEST(ConfFile, TheLongestLineIsRead) {
  FileVariables files;
  files.Add("A=" + std::string(kConfLineBytesMax - 2, 'x'), "c");
  EXPECT_EQ(files.values.size(), 1u);
}

TEST(ConfFile, ControlCharactersStayOutOfWarnings) {
  FileVariables files;
  files.Add("\x1b[2J", "c");
  EXPECT_THAT(files.warnings, ElementsAre(testing::Not(HasSubstr("\x1b"))));
}

TEST(ConfFileTest, WarnsOfBlanksBesideTheName) {
  FileVariables files;
  files.Add("NCCL_DEBUG = INFO\n NCCL_ALGO=ring\n", "conf");
  EXPECT_THAT(files.values, testing::IsEmpty());
  EXPECT_THAT(files.warnings,
              ElementsAre("conf:1 is ignored: blanks beside the name are part of it, and no "
                          "variable is called \"NCCL_DEBUG \"; write NCCL_DEBUG=value",
                          HasSubstr("write NCCL_ALGO=value")));
}

}  // namespace
}  // namespace ringlet
