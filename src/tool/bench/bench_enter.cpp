#include "tool/bench/bench_enter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/value/text.hpp"
#include "testbed/net_hosts.hpp"
#include "testbed/net_space.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kEnter = "bench enter", kReach = "bench reach";

int Run(const std::string& space, const std::vector<std::string>& program) {
  if (program.empty())
    return Fail(kEnter, {Code::kInvalidArgument, "the program to run is missing"});
  const Status entered = testbed::EnterNetSpace(space);
  return Fail(kEnter, entered.ok() ? testbed::BecomeProgram(program) : entered.error());
}

int RunAt(const std::string& spaces, const std::string& address,
          const std::vector<std::string>& words) {
  std::uint32_t host = 0;
  for (const std::string_view space : Split(spaces, ',')) {
    if (testbed::NetHosts::AddressOf(host++) != address) continue;
    // Programs that identify a host by its name would otherwise share memory across the namespaces.
    Status entered = testbed::NameHost(fmt::format("host-{}", host - 1));
    if (entered.ok()) entered = testbed::EnterNetSpace(std::string(space));
    return Fail(kReach, entered.ok()
                            ? testbed::BecomeProgram(
                                  {"/bin/sh", "-c", fmt::format("{}", fmt::join(words, " "))})
                            : entered.error());
  }
  return Fail(kReach, {Code::kInvalidArgument, fmt::format("no host has address {}", address)});
}

}  // namespace

void AddBenchEnter(CLI::App& bench, Action& chosen) {
  CLI::App* enter = bench.add_subcommand("enter", "Run a program in a network namespace");
  enter->group("");
  // The parser fills it, and the action reads it later.
  const auto space = std::make_shared<std::string>();
  enter->add_option("namespace", *space)->required();
  enter->prefix_command();
  enter->callback([enter, space, &chosen] {
    chosen = [program = enter->remaining(), space] { return Run(*space, program); };
  });
}

void AddBenchReach(CLI::App& bench, Action& chosen) {
  CLI::App* reach = bench.add_subcommand("reach", "Run a line of words on a host of a bench");
  reach->group("");
  struct Where {
    std::string spaces, address;
  };
  const auto where = std::make_shared<Where>();
  reach->add_option("namespaces", where->spaces)->required();
  reach->add_option("address", where->address)->required();
  reach->prefix_command();
  reach->callback([reach, where, &chosen] {
    chosen = [words = reach->remaining(), where] {
      return RunAt(where->spaces, where->address, words);
    };
  });
}

std::vector<std::string> SshSubstituteCommand(const std::vector<std::string>& spaces) {
  return {fmt::format("/proc/{}/exe", ::getpid()), "bench", "reach",
          fmt::format("{}", fmt::join(spaces, ","))};
}

std::vector<std::string> CommandInSpace(const std::string& space,
                                        std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/proc/self/exe", "bench", "enter", space});
  return arguments;
}

}  // namespace ringlet::cli
