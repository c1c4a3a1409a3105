#include "tool/watch/ras.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "os/driver/socket_driver.hpp"
#include "os/net/resolve.hpp"
#include "watcher/client/ras_client.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kRas = "ras";
constexpr Instant kStep = std::chrono::seconds(1);

struct RasRequest {
  std::string host = "localhost";
  std::uint16_t port = 28028;
  bool verbose = false;
  bool json = false;
  std::optional<std::uint32_t> timeout_s = {};
  std::optional<std::string> monitor = {};
};

/// Returns the addresses to try. A server on this host may listen at either loopback address.
Result<std::vector<Address>> ServersOf(const RasRequest& request) {
  std::vector<Address> servers;
  if (request.host == "localhost") {
    for (const char* loopback : {"127.0.0.1", "[::1]"}) {
      RINGLET_TRY_ASSIGN(const Address at,
                         ParseAddress(fmt::format("{}:{}", loopback, request.port)));
      servers.push_back(at);
    }
    return servers;
  }
  const bool is_ipv6 = request.host.find(':') != std::string::npos && request.host.front() != '[';
  RINGLET_TRY_ASSIGN(const Address at,
                     os::Resolve(fmt::format(fmt::runtime(is_ipv6 ? "[{}]:{}" : "{}:{}"),
                                             request.host, request.port)));
  servers.push_back(at);
  return servers;
}

Status Ask(const RasRequest& request) {
  RINGLET_TRY_ASSIGN(std::vector<Address> servers, ServersOf(request));
  watch::RasClient::Question wanted{.servers = std::move(servers), .verbose = request.verbose};
  if (request.json) wanted.format = "json";
  if (request.timeout_s) wanted.timeout = std::chrono::seconds(*request.timeout_s);
  wanted.events = request.monitor;
  const auto client =
      std::make_shared<watch::RasClient>(std::move(wanted), [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);
      });
  RINGLET_TRY_ASSIGN(const auto driver, os::SocketDriver::Create());
  driver->Add({.machine = client, .listeners = {}});
  while (!client->Finished() && std::ferror(stdout) == 0) driver->Step(kStep);
  return client->outcome().value_or(Error{Code::kSystem, "standard output cannot be written"});
}

}  // namespace

void AddRas(CLI::App& tool, Action& chosen) {
  CLI::App* ras = tool.add_subcommand(
      "ras", "Show the report of a RAS server of Ringlet, or of NCCL 2.24 and later");
  ras->footer(
      "Uses the protocol of ncclras. Ranks of Ringlet answer it with NCCL_RAS_ENABLE=1. The "
      "exit\nstatus is 1 if no server answers; it does not depend on the report.");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<RasRequest>();
  ras->add_option("--host", request->host, "Host name or address of the server")
      ->type_name("TEXT")
      ->capture_default_str();
  ras->add_option("-p,--port", request->port, "Port of the server")
      ->check(CLI::Range(1u, 65'535u))
      ->capture_default_str();
  ras->add_flag("-v,--verbose", request->verbose, "Show all ranks that differ");
  ras->add_flag("--json", request->json,
                "An object: nccl_version, timestamp, communicators, ras; with --monitor one for "
                "each event");
  ras->add_option("-t,--timeout", request->timeout_s,
                  "Seconds for ranks to answer; 0: no limit. Ringlet waits at most 2")
      ->check(CLI::Range(0u, 86'400u));
  ras->add_option("-m,--monitor", request->monitor,
                  "Show events as they happen: lifecycle, trace or all, separated by commas")
      ->type_name("TEXT")
      ->expected(0, 1);
  ras->callback(
      [request, &chosen] { chosen = [request] { return ExitStatusOf(kRas, Ask(*request)); }; });
}

}  // namespace ringlet::cli
