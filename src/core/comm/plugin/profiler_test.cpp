#include "comm/plugin/profiler.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "comm/establish/ranks_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string PluginAt(const std::string& name) {
  return RINGLET_TEST_PLUGINS "libnccl-profiler-" + name + ".so";
}

/// The lines that a plug-in of test/plugins has received since this was made.
class ProfilerOutput {
 public:
  explicit ProfilerOutput(const std::string& name)
      : library_(os::SharedLibrary::Open(PluginAt(name), os::SharedLibrary::Unloading::kForEver)
                     .value()),
        before_(All().size()) {}
  std::string All() const { return library_.Find<const char*()>("plugin_lines")(); }
  std::string Since() const { return All().substr(before_); }
  int open() const { return library_.Find<int()>("plugin_open")(); }
  void Want(int mask) const { library_.Find<void(int)>("plugin_want")(mask); }

 private:
  const os::SharedLibrary library_;
  const std::size_t before_;
};

void RunCalls(std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
  ASSERT_TRUE(formed.ok()) << formed.error().message;
  Communicator& communicator = **formed;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(SumOfRanks(communicator, 8).ok());
  ASSERT_TRUE(Barrier(communicator).ok());
  std::vector<std::int32_t> data(6, 1), out(6);
  const auto bytes = std::as_writable_bytes(std::span(data));
  ASSERT_TRUE(
      Broadcast(
          communicator,
          {.input = bytes, .output = bytes, .count = 6, .type = DataType::kInt32, .root = Rank{1}})
          .ok());
  const Transfer messages[] = {
      {.peer = Rank{1 - rank}, .sends = true, .from = bytes, .count = 6, .type = DataType::kInt32},
      {.peer = Rank{1 - rank},
       .to = std::as_writable_bytes(std::span(out)),
       .count = 6,
       .type = DataType::kInt32}};
  ASSERT_TRUE(communicator.Run(messages).ok());
}

/// Returns the lines of one rank, in their order.
std::string LinesOf(const std::string& lines, char rank) {
  std::string its;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at) + 1;
    if (lines[at] == rank) its += lines.substr(at, end - at);
    at = end;
  }
  return its;
}

// Types as numbers: 256 is a group call, 512 a collective call, 1024 a message call.
constexpr std::string_view kCalls =
    "1 group depth 1\n1 call AllReduce 8 ncclFloat32 in 256\n"
    "1 collective AllReduce 8 ncclFloat32 NAME SIMPLE number 0 channels 1 in 512\n"
    "1 channel 0 in 2\n1 channel ends in order\n"
    "1 group depth 1\n1 call AllReduce 8 ncclFloat32 in 256\n"
    "1 collective AllReduce 8 ncclFloat32 NAME SIMPLE number 1 channels 1 in 512\n"
    "1 channel 0 in 2\n1 channel ends in order\n"
    "1 group depth 1\n1 call Broadcast 6 ncclInt32 in 256\n"
    "1 collective Broadcast 6 ncclInt32 NAME SIMPLE number 0 channels 1 in 512\n"
    "1 channel 0 in 2\n1 channel ends in order\n"
    "1 group depth 2\n1 call Send 6 ncclInt32 in 256\n1 call Recv 6 ncclInt32 in 256\n"
    "1 message Send 6 ncclInt32 peer 0 in 1024\n1 channel 0 in 4\n"
    "1 message Recv 6 ncclInt32 peer 0 in 1024\n1 channel 0 in 4\n"
    "1 channel ends in order\n1 channel ends in order\n";

/// Replaces the names of all our algorithms by one name.
std::string Plain(std::string lines) {
  for (std::size_t at = 0; (at = lines.find(" SIMPLE", at)) != std::string::npos; at += 5) {
    const std::size_t name = lines.rfind(' ', at - 1) + 1;
    lines.replace(name, at - name, "NAME");
    at = lines.find(" SIMPLE", name);
  }
  return lines;
}

TEST(Profiler, ReceivesEachOperationAndItsParts) {
  for (const std::string version : {"six", "five"}) {
    const ProfilerOutput told(version);
    RunRanks(2, {{"RINGLET_PROFILER_PLUGIN", PluginAt(version)}}, RunCalls);
    EXPECT_EQ(Plain(LinesOf(told.Since(), '1')), kCalls) << told.Since();
    EXPECT_THAT(told.Since(), HasSubstr("init rank 1 of 2 on 1 named -\n"));
    EXPECT_THAT(told.Since(), HasSubstr("finalize rank 0\n"));
    EXPECT_EQ(told.open(), 0);
  }
}

TEST(Profiler, ReceivesOnlyRequestedOperationsOverLinks) {
  const ProfilerOutput told("six");
  const EnvMap settings = {{"RINGLET_PROFILER_PLUGIN", PluginAt("six")}, {"RINGLET_LINKS", "tcp"}};
  RunRanks(2, settings, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(SumOfRanks(**formed, 8).ok());
    told.Want(0);
    ASSERT_TRUE(Barrier(**formed).ok());
    ASSERT_TRUE(SumOfRanks(**formed, 9).ok()) << rank;
  });
  EXPECT_THAT(told.Since(), HasSubstr("1 collective AllReduce 8 ncclFloat32"));
  EXPECT_THAT(told.Since(), Not(HasSubstr("AllReduce 9")));
  EXPECT_EQ(told.open(), 0);
}

TEST(Profiler, ReceivesTheEndOfAFailedOperation) {
  const ProfilerOutput told("six");
  RunRanks(2, {{"RINGLET_PROFILER_PLUGIN", PluginAt("six")}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
             EXPECT_FALSE(SumOfRanks(**formed, 8 + rank).ok());
           });
  EXPECT_THAT(told.Since(), HasSubstr("0 channel 0 in 2\n"));
  EXPECT_EQ(told.open(), 0);
}

/// Returns the log of two ranks with that plug-in, and checks their operations.
std::string LogWith(const std::string& value) {
  const os::TempTree tree;
  const std::string file = tree.At("log");
  RunRanks(
      2,
      {{"RINGLET_PROFILER_PLUGIN", value}, {"RINGLET_DEBUG", "WARN"}, {"RINGLET_DEBUG_FILE", file}},
      RunCalls);
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t CountOf(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Profiler, FaultyPluginsAreNamedAndDisabled) {
  EXPECT_THAT(LogWith(PluginAt("null")),
              HasSubstr("lacks the function startEvent in ncclProfiler_v6"));
  EXPECT_THAT(LogWith(PluginAt("four")), HasSubstr("has ncclProfiler_v4"));
  EXPECT_THAT(LogWith("no-such"), HasSubstr("libnccl-profiler-no-such.so"));
  const std::string refused = LogWith(PluginAt("refuses"));
  EXPECT_EQ(CountOf(refused, "refused communicator"), 2u) << refused;
  const std::string errs = LogWith(PluginAt("errs"));
  EXPECT_EQ(CountOf(errs, "answered startEvent with error 2"), 1u) << errs;
}

TEST(Profiler, WritesToTheLog) {
  const std::string log = LogWith(PluginAt("six"));
  EXPECT_THAT(log, HasSubstr("plug-in sees rank 0 of none"));
  EXPECT_THAT(log, HasSubstr("profiler_plugin.c"));
}

}  // namespace
}  // namespace ringlet::comm
