#include "os/fs/log_sink.hpp"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "base/value/text.hpp"
#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::os {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class LoggerTest : public testing::Test {
 protected:
  Settings At(LogLevel level) {
    Settings settings;
    settings.debug = level;
    settings.debug_file = temp_.At("log.%h.%p");
    return settings;
  }
  std::string Written() {
    const auto content = FileTree::Open(temp_.root())->Read("log.node-a.42");
    return content.ok() ? *content : content.error().message;
  }
  TempTree temp_;
};

TEST_F(LoggerTest, LogsEachWarningOnce) {
  Logger logger(At(LogLevel::kWarn), "node-a", 42);
  for (const char* text : {"it rains", "it snows", "it rains"}) logger.WarnOnce(text);
  const std::string log = Written();
  EXPECT_THAT(log, HasSubstr("it snows"));
  EXPECT_NE(log.find("it rains"), log.npos);
  EXPECT_EQ(log.find("it rains"), log.rfind("it rains"));
}

TEST_F(LoggerTest, WritesTheFormatOfNcclIntoTheExpandedFile) {
  Logger logger(At(LogLevel::kInfo), "node-a.example.com", 42);
  logger.Log(LogLevel::kInfo, Subsystem::kInit, 3, "hello");
  EXPECT_THAT(Written(), MatchesRegex("node-a:42:[0-9]+ \\[3\\] RINGLET INFO hello\n"));
}

TEST_F(LoggerTest, AWarningHasATimeAndASourceLine) {
  Logger logger(At(LogLevel::kWarn), "node-a", 42);
  logger.Log(LogLevel::kWarn, Subsystem::kNet, std::nullopt, "bad", "src/x/y.cpp", 7);
  EXPECT_THAT(Written(),
              MatchesRegex("\n\\[[-0-9]+ [:0-9]+\\] node-a:42:[0-9]+ y.cpp:7 RINGLET WARN bad\n"));
}

TEST_F(LoggerTest, UnwantedLinesAreNotWritten) {
  Logger logger(At(LogLevel::kInfo), "node-a", 42);
  logger.Log(LogLevel::kInfo, Subsystem::kNet, 0, "subsystem is off");
  logger.Log(LogLevel::kTrace, Subsystem::kInit, 0, "level is off");
  EXPECT_THAT(Written(), IsEmpty());
  EXPECT_FALSE(logger.IsWanted(LogLevel::kInfo, Subsystem::kNet));
}

TEST_F(LoggerTest, NoFileIsCreatedIfLoggingIsOff) {
  Logger logger(At(LogLevel::kNone), "node-a", 42);
  logger.Log(LogLevel::kWarn, Subsystem::kInit, 0, "nobody asked");
  EXPECT_THAT(Written(), HasSubstr("No such file"));
}

TEST_F(LoggerTest, AnOldFileIsOverwritten) {
  temp_.Write("log.node-a.42", "old\n");
  Logger logger(At(LogLevel::kInfo), "node-a", 42);
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(LoggerTest, LinesOfSeveralThreadsAreNotInterleaved) {
  constexpr int kThreads = 4, kLines = 200;
  Logger logger(At(LogLevel::kInfo), "node-a", 42);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kLines; ++i)
        logger.Log(LogLevel::kInfo, Subsystem::kInit, 0, std::string(500, 'x'));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string written = Written();
  const auto lines = Split(written, '\n');
  ASSERT_EQ(lines.size(), std::size_t{kThreads * kLines + 1});
  const std::string tail = " [0] RINGLET INFO " + std::string(500, 'x');
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) ASSERT_TRUE(lines[i].ends_with(tail));
}

TEST_F(LoggerTest, WarnsOnStandardOutputIfItsFileCannotBeOpened) {
  Settings settings = At(LogLevel::kInfo);
  settings.debug_file = "/no/such/folder/log";
  testing::internal::CaptureStdout();
  Logger logger(settings, "node-a", 42);
  logger.Log(LogLevel::kInfo, Subsystem::kInit, 0, "goes on");
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_THAT(out, HasSubstr("cannot write the log to /no/such/folder/log: No such file"));
  EXPECT_THAT(out, HasSubstr("RINGLET INFO goes on\n"));
}

TEST_F(LoggerTest, UnwritableLinesAreDropped) {
  Settings settings = At(LogLevel::kInfo);
  settings.debug_file = "/dev/full";
  Logger logger(settings, "node-a", 42);
  logger.Log(LogLevel::kInfo, Subsystem::kInit, 0, "lost");
  logger.Log(LogLevel::kWarn, Subsystem::kInit, 0, "lost as well");
}

TEST_F(LoggerTest, StandardErrorCanBeNamed) {
  Settings settings = At(LogLevel::kInfo);
  settings.debug_file = "/dev/stderr";
  testing::internal::CaptureStderr();
  Logger(settings, "node-a", 42).Log(LogLevel::kInfo, Subsystem::kInit, 0, "here");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("RINGLET INFO here\n"));
}

}  // namespace
}  // namespace ringlet::os
