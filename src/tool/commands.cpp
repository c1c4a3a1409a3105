#include "tool/commands.hpp"

#include "tool/bench/bench.hpp"
#include "tool/doctor/doctor.hpp"
#include "tool/emulate/emulate.hpp"
#include "tool/emulate/traffic.hpp"
#include "tool/explain/explain.hpp"
#include "tool/explain/predict.hpp"
#include "tool/help/completion.hpp"
#include "tool/help/examples.hpp"
#include "tool/help/formatter.hpp"
#include "tool/help/help.hpp"
#include "tool/plan/plan.hpp"
#include "tool/run/run.hpp"
#include "tool/sim/sim.hpp"
#include "tool/text/env.hpp"
#include "tool/text/version.hpp"
#include "tool/topo.hpp"
#include "tool/watch/ras.hpp"
#include "tool/watch/status.hpp"
#include "tool/watch/trace.hpp"

namespace ringlet::cli {
std::unique_ptr<CLI::App> MakeTool(std::vector<std::string> program, Action& chosen) {
  auto tool = std::make_unique<CLI::App>("Collective communication without a GPU", "ringlet");
  tool->formatter(std::make_shared<HelpFormatter>(HelpColumns()));
  tool->require_subcommand(0, 1);  // later, so that unknown options are reported first
  tool->set_version_flag("--version", VersionText(), "Show the version");
  AddBench(*tool, chosen);
  AddRun(*tool, program, chosen);
  AddEmulate(*tool, std::move(program), chosen);
  AddTraffic(*tool, chosen);
  AddStatus(*tool, chosen);
  AddTrace(*tool, chosen);
  AddRas(*tool, chosen);
  AddDoctor(*tool, chosen);
  AddSim(*tool, chosen);
  AddTopo(*tool, chosen);
  AddPlan(*tool, chosen);
  AddExplain(*tool, chosen);
  AddPredict(*tool, chosen);
  AddEnv(*tool, chosen);
  AddVersion(*tool, chosen);
  AddHelp(*tool, chosen);
  AddCompletion(*tool, chosen);
  AddExamples(*tool);
  return tool;
}

}  // namespace ringlet::cli
