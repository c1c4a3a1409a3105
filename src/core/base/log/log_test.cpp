#include "base/log/log.hpp"

#include <gmock/gmock.h>

namespace ringlet {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

LogLine Line(LogLevel level, std::string_view text) {
  return {.level = level,
          .host_name = "node-a.example.com",
          .pid = 100,
          .tid = 101,
          .device = 3,
          .text = text,
          .file = "src/core/comm/establish/establish.cpp",
          .line = 42,
          .wall_time = "2025-11-20 18:14:03",
          .since_start = std::chrono::microseconds(1500)};
}

TEST(LogTest, InfoLinesHaveTheFormatOfNccl) {
  EXPECT_EQ(FormatLogLine(Line(LogLevel::kInfo, "hello")),
            "node-a:100:101 [3] RINGLET INFO hello\n");
}

TEST(LogTest, LinesWithoutADeviceOmitTheBrackets) {
  LogLine line = Line(LogLevel::kInfo, "hello");
  line.device.reset();
  EXPECT_EQ(FormatLogLine(line), "node-a:100:101 RINGLET INFO hello\n");
}

TEST(LogTest, WarningsHaveAnEmptyLineATimeAndASourceLine) {
  EXPECT_EQ(FormatLogLine(Line(LogLevel::kWarn, "bad")),
            "\n[2025-11-20 18:14:03] node-a:100:101 [3] establish.cpp:42 RINGLET WARN bad\n");
}

TEST(LogTest, TraceCallVersionAndAbortLinesAreFormatted) {
  EXPECT_EQ(FormatLogLine(Line(LogLevel::kTrace, "x")),
            "node-a:100:101 [3] 1.500000 establish.cpp:42 RINGLET TRACE x\n");
  LogLine call = Line(LogLevel::kTrace, "ncclAllReduce(1)");
  call.subsystem = Subsystem::kCall;
  EXPECT_EQ(FormatLogLine(call), "node-a:100:101 RINGLET CALL ncclAllReduce(1)\n");
  EXPECT_EQ(FormatLogLine(Line(LogLevel::kVersion, "Ringlet version 0.1.0")),
            "Ringlet version 0.1.0\n");
  EXPECT_EQ(FormatLogLine(Line(LogLevel::kAbort, "x")), "node-a:100:101 [3] RINGLET ABORT x\n");
}

TEST(LogTest, ControlCharactersCannotForgeALine) {
  EXPECT_EQ(FormatLogLine(Line(LogLevel::kInfo, "a\nnode-b:1:1 RINGLET INFO b")),
            "node-a:100:101 [3] RINGLET INFO a\\nnode-b:1:1 RINGLET INFO b\n");
}

TEST(LogTest, ALineFitsAnAtomicPipeWrite) {
  const std::string longest(100'000, '\n');
  LogLine line = Line(LogLevel::kWarn, longest);
  line.host_name = line.file = longest;
  EXPECT_LT(FormatLogLine(line).size(), 4096u);
}

TEST(LogTest, ParsesSubsystemListsAndTheirInversion) {
  EXPECT_EQ(ParseSubsystems("INIT,net").value().bits, 0x11u);
  EXPECT_EQ(ParseSubsystems("ALL").value().bits, 0xffffffffu);
  EXPECT_EQ(ParseSubsystems("^COLL, P2P").value().bits, ~0x6u);
  EXPECT_EQ(ParseSubsystems("^ALL").value().bits, 0u);
  EXPECT_EQ(ParseSubsystems("ALLOC_HOST").value().bits, 0x20000u);
}

TEST(LogTest, TheErrorQuotesAnUnknownSubsystemAndListsTheKnown) {
  const Result<SubsystemMask> bad = ParseSubsystems("INIT,BOOSTRAP");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Code::kInvalidArgument);
  EXPECT_THAT(bad.error().message, HasSubstr("\"BOOSTRAP\""));
  EXPECT_THAT(bad.error().message,
              EndsWith("known are " + ToString(SubsystemMask{0x3ffffu}) + ",ALL"));
}

TEST(LogTest, SubsystemTextRoundTrips) {
  EXPECT_EQ(ToString(SubsystemMask{}), "INIT,ENV,BOOTSTRAP");
  for (const std::uint32_t bits : {0u, ~0u, 0x1081u, ~0x6u, 0x3ffffu, 0x20000u})
    EXPECT_EQ(ParseSubsystems(ToString(SubsystemMask{bits})).value().bits, bits) << bits;
}

TEST(LogTest, SubsystemsAndLevelsHaveNames) {
  EXPECT_EQ(Name(Subsystem::kInit), "INIT");
  EXPECT_EQ(Name(Subsystem::kBootstrap), "BOOTSTRAP");
  EXPECT_EQ(Name(Subsystem::kAllocHost), "ALLOC_HOST");
  EXPECT_EQ(Name(LogLevel::kTrace), "TRACE");
}

TEST(LogTest, FilterChecksLevelThenSubsystemExceptForWarnings) {
  const LogFilter filter{LogLevel::kInfo, {0x1}};
  EXPECT_TRUE(filter.IsWanted(LogLevel::kInfo, Subsystem::kInit));
  EXPECT_FALSE(filter.IsWanted(LogLevel::kInfo, Subsystem::kNet));
  EXPECT_TRUE(filter.IsWanted(LogLevel::kWarn, Subsystem::kNet));
  EXPECT_TRUE(filter.IsWanted(LogLevel::kVersion, Subsystem::kNet));
  EXPECT_FALSE(filter.IsWanted(LogLevel::kTrace, Subsystem::kInit));
  EXPECT_FALSE(filter.IsWanted(LogLevel::kNone, Subsystem::kInit));
  EXPECT_FALSE(LogFilter{}.IsWanted(LogLevel::kWarn, Subsystem::kInit));
}

TEST(LogTest, PathExpandsHostProcessAndPercent) {
  EXPECT_EQ(ExpandLogPath("/tmp/%h.%p.%%.%q.%", "node-a.example.com", 7), "/tmp/node-a.7.%.%q.%");
}

}  // namespace
}  // namespace ringlet
