#include "frontends/cli/bench_enter.hpp"

#include "os/net_space.hpp"

namespace ringlet::cli {
namespace {

constexpr std::string_view kEnter = "bench enter";

int Run(const std::string& space, const std::vector<std::string>& program) {
  if (program.empty()) return Fail(kEnter, {Code::kInvalidArgument, "there is no program to run"});
  const Status entered = os::EnterNetSpace(space);
  return Fail(kEnter, entered.ok() ? os::BecomeProgram(program) : entered.error());
}

}  // namespace

void AddBenchEnter(CLI::App& bench, Action& chosen) {
  CLI::App* enter = bench.add_subcommand("enter", "Run a program in a network namespace");
  enter->group("");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto space = std::make_shared<std::string>();
  enter->add_option("namespace", *space)->required();
  enter->prefix_command();
  enter->callback([enter, space, &chosen] {
    chosen = [program = enter->remaining(), space] { return Run(*space, program); };
  });
}

std::vector<std::string> Entered(const std::string& space, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"/proc/self/exe", "bench", "enter", space});
  return arguments;
}

}  // namespace ringlet::cli
