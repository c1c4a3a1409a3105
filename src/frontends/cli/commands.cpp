#include "frontends/cli/commands.hpp"

#include "frontends/cli/bench/bench.hpp"
#include "frontends/cli/doctor/doctor.hpp"
#include "frontends/cli/emulate/emulate.hpp"
#include "frontends/cli/emulate/traffic.hpp"
#include "frontends/cli/explain/explain.hpp"
#include "frontends/cli/explain/predict.hpp"
#include "frontends/cli/help/completion.hpp"
#include "frontends/cli/help/examples.hpp"
#include "frontends/cli/help/formatter.hpp"
#include "frontends/cli/help/help.hpp"
#include "frontends/cli/plan/plan.hpp"
#include "frontends/cli/run/run.hpp"
#include "frontends/cli/sim/sim.hpp"
#include "frontends/cli/text/env.hpp"
#include "frontends/cli/text/version.hpp"
#include "frontends/cli/topo.hpp"
#include "frontends/cli/watch/ras.hpp"
#include "frontends/cli/watch/status.hpp"
#include "frontends/cli/watch/trace.hpp"

namespace ringlet::cli {
std::unique_ptr<CLI::App> MakeTool(std::vector<std::string> program, Action& chosen) {
  auto tool = std::make_unique<CLI::App>("Collective communication without a GPU", "ringlet");
  tool->formatter(std::make_shared<HelpFormatter>(HelpColumns()));
  tool->require_subcommand(0, 1);  // none is refused after the parse, which names unknown options
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
