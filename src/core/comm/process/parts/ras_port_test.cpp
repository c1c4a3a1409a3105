#include "comm/process/parts/ras_port.hpp"

#include <gmock/gmock.h>

#include <latch>

#include "comm/establish/ranks_for_test.hpp"
#include "os/clock.hpp"
#include "os/driver/socket_driver.hpp"
#include "os/net/listener.hpp"
#include "watcher/client/ras_client.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

Address PortForRas() {
  return os::Listen(Address::Ipv4(127, 0, 0, 1, 0)).value().address;
}

/// Returns the report of the server there, or the error.
std::string ReportAt(const Address& at) {
  std::string report;
  const auto client = std::make_shared<watch::RasClient>(
      watch::RasClient::Question{.servers = {at}, .verbose = true},
      [&](std::string_view text) { report += text; });
  const auto driver = os::SocketDriver::Create().value();
  driver->Add({.machine = client, .listeners = {}});
  while (!client->Finished()) driver->Step(std::chrono::seconds(1));
  return client->outcome()->ok() ? report : "ERROR " + client->outcome()->error().message;
}

TEST(RasPort, IsOpenWhileAProcessHasACommunicator) {
  const Address at = PortForRas();
  const auto process = ProcessWith({{"NCCL_RAS_ADDR", ToString(at)}});
  EXPECT_THAT(ReportAt(at), HasSubstr("no RAS server"));
  const auto process_of = [&](std::uint32_t) { return process; };
  for (int again = 0; again < 2; ++again) {
    std::latch called(2), looked(2);
    RunRanks(2, process_of, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
      EXPECT_TRUE(formed.ok() && SumOfRanks(**formed, 2).ok() && Barrier(**formed).ok());
      called.arrive_and_wait();
      const std::string report = rank == 0 ? ReportAt(at) : "";
      looked.arrive_and_wait();
      if (rank == 0) {
        EXPECT_THAT(report, HasSubstr("1         2         2         2   RUNNING"));
      }
    });
    const Instant give_up = os::Now() + std::chrono::seconds(60);
    std::string report = ReportAt(at);
    while (!report.starts_with("ERROR") && os::Now() < give_up) report = ReportAt(at);
    EXPECT_THAT(report, HasSubstr("no RAS server")) << "it has left the port to others";
  }
}

// The processes share the port, and each of them knows the ranks of both.
TEST(RasPort, IsSharedByProcesses) {
  const Address at = PortForRas();
  const EnvMap settings = {{"NCCL_RAS_ADDR", ToString(at)}};
  const auto one = ProcessWith(settings), other = ProcessWith(settings);
  std::latch called(2), looked(2);
  RunRanks(
      2, [&](std::uint32_t rank) { return rank == 0 ? one : other; },
      [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
        EXPECT_TRUE(formed.ok() && SumOfRanks(**formed, 2).ok() && Barrier(**formed).ok());
        called.arrive_and_wait();
        for (int again = 0; again < 8; ++again)
          EXPECT_THAT(ReportAt(at), HasSubstr("2         2   RUNNING      OK"));
        looked.arrive_and_wait();
      });
}

TEST(RasPort, IsClosedUnlessTheSettingsOpenIt) {
  const Address at = PortForRas();
  for (const EnvMap& settings : {EnvMap{{"NCCL_RAS_ADDR", ToString(at)}, {"NCCL_RAS_ENABLE", "0"}},
                                 EnvMap{{"NCCL_RAS_ADDR", "0.0.0.0:" + std::to_string(at.port)}}}) {
    const auto process = ProcessWith(settings);
    RunRanks(
        1, [&](std::uint32_t) { return process; },
        [&](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
          EXPECT_TRUE(formed.ok());
          EXPECT_THAT(ReportAt(at), HasSubstr("no RAS server"));
        });
  }
}

}  // namespace
}  // namespace ringlet::comm
