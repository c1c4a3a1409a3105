#include "tool/watch/ras.hpp"

#include <gmock/gmock.h>

#include <latch>
#include <nlohmann/json.hpp>

#include "comm/establish/ranks_for_test.hpp"
#include "os/net/listener.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::uint16_t FreePort() {
  return os::Listen(Address::Ipv4(127, 0, 0, 1, 0)).value().address.port;
}

TEST(RasCommand, NamesTheAddressWithoutAServer) {
  const ToolRun ran = RunCommand({"ras", "--port", std::to_string(FreePort())});
  EXPECT_EQ(ran.status, kExitFailed);
  EXPECT_THAT(ran.errors, HasSubstr("no RAS server at 127.0.0.1:"));
}

TEST(RasCommand, RefusesAnInvalidPort) {
  EXPECT_EQ(RunCommand({"ras", "--port", "0"}).status, kExitUsage);
}

TEST(RasCommand, PrintsTheReportOfTheRanks) {
  const std::uint16_t port = FreePort();
  const auto process = comm::ProcessWith({{"NCCL_RAS_ADDR", "127.0.0.1:" + std::to_string(port)}});
  std::latch called(2), looked(2);
  comm::RunRanks(
      2, [&](std::uint32_t) { return process; },
      [&](std::uint32_t rank, Result<std::unique_ptr<comm::Communicator>> formed) {
        EXPECT_TRUE(formed.ok() && comm::SumOfRanks(**formed, 2).ok() && Barrier(**formed).ok());
        called.arrive_and_wait();
        ToolRun text, json, events;
        if (rank == 0) {
          text = RunCommand({"ras", "-p", std::to_string(port), "--verbose"});
          json = RunCommand({"ras", "-p", std::to_string(port), "--json", "-t", "1"});
          events = RunCommand({"ras", "-p", std::to_string(port), "--monitor", "weather"});
        }
        looked.arrive_and_wait();
        if (rank != 0) return;
        EXPECT_EQ(text.status, kExitDone) << text.errors;
        EXPECT_THAT(text.output, HasSubstr("RUNNING      OK"));
        EXPECT_THAT(text.output, HasSubstr("Warnings\n========\n"));
        const auto report = nlohmann::json::parse(json.output);
        ASSERT_THAT(report["communicators"], SizeIs(1));
        EXPECT_THAT(report["communicators"][0]["ranks"], SizeIs(2));
        EXPECT_EQ(report["communicators"][0]["ranks"][1]["collective_counts"]["AllReduce"], 1);
        EXPECT_EQ(events.status, kExitFailed);
        EXPECT_THAT(events.errors, HasSubstr("weather"));
      });
}

}  // namespace
}  // namespace ringlet::cli
