#include "frontends/cli/topo/topo_complete.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/value/text.hpp"
#include "frontends/cli/quantity.hpp"
#include "frontends/cli/topo/topo_source.hpp"
#include "topology/edit/complete.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::cli {
namespace {

using topology::Completion;

struct CompleteOptions {
  TopoSource source;
  std::string machine, gpu, layout;
  std::string nic_speed;
  bool list = false;
};

void PrintKnown() {
  fmt::print("Machines:\n");
  for (const topology::KnownMachine& machine : topology::KnownMachines())
    fmt::print("  {:<22} {} {}, links {}, NICs of {} Mbit/s\n  {:<22} {}\n", machine.name,
               machine.gpus, machine.gpu, LayoutName(machine.layout), machine.nic_mbit_per_s, "",
               machine.source);
  fmt::print("GPUs:\n");
  for (const topology::GpuModel& model : topology::GpuModels())
    fmt::print("  {:<22} device 0x{:04x}, compute capability {}, {} links, PCIe {}.0\n", model.name,
               model.device, model.compute_capability, model.links, model.pcie_generation);
}

Error Unknown(std::string_view what, const std::string& name) {
  return {Code::kInvalidArgument,
          fmt::format("no {} is called {}; see ringlet topo complete --list", what, name)};
}

Result<std::uint32_t> MbitPerS(const std::string& text) {
  constexpr std::uint64_t kMost = 8'000'000;  // 1000 GB/s, as ParseBandwidth
  const auto number = ParseDecimal(text);
  if (number && *number > 0 && *number <= kMost) return static_cast<std::uint32_t>(*number);
  RINGLET_TRY_ASSIGN(const std::uint64_t mb_per_s, ParseBandwidth(text));
  if (mb_per_s > 0) return static_cast<std::uint32_t>(mb_per_s * 8);
  return Error{Code::kInvalidArgument, "--nic-speed: a NIC of no speed is none"};
}

/// What the machine says, and over it what the other options say.
Result<Completion> CompletionFrom(const CompleteOptions& options) {
  Completion completion;
  if (!options.machine.empty()) {
    const topology::KnownMachine* machine = topology::FindKnownMachine(options.machine);
    if (machine == nullptr) return Unknown("machine", options.machine);
    completion = CompletionOf(*machine);
  }
  if (!options.gpu.empty()) {
    completion.gpu = topology::FindGpuModel(options.gpu);
    if (completion.gpu == nullptr) return Unknown("GPU", options.gpu);
  }
  if (!options.layout.empty()) {
    const auto layout = topology::FindLayout(options.layout);
    if (!layout)
      return Error{Code::kInvalidArgument,
                   fmt::format("--nvlink is none, switch, pairs, mesh or cube-mesh, not {}",
                               options.layout)};
    completion.layout = *layout;
  }
  if (!options.nic_speed.empty()) {
    RINGLET_TRY_ASSIGN(completion.nic_mbit_per_s, MbitPerS(options.nic_speed));
  }
  return completion;
}

int Run(const CompleteOptions& options) {
  if (options.list) {
    PrintKnown();
    return 0;
  }
  const Result<LoadedTopology> loaded = LoadTopology(options.source);
  if (!loaded.ok()) return Fail("topo complete", loaded.error());
  const Result<Completion> completion = CompletionFrom(options);
  if (!completion.ok()) return Fail("topo complete", completion.error());
  const Result<topology::Completed> completed = Complete(loaded->view, *completion);
  if (!completed.ok()) return Fail("topo complete", completed.error());
  for (const std::string& note : completed->notes) Tell("topo complete", note);
  if (completed->notes.empty()) Tell("topo complete", "nothing had to be added");
  fmt::print("{}", ToXml(completed->view));
  return 0;
}

}  // namespace

void AddTopoComplete(CLI::App& topo, Action& chosen) {
  CLI::App* complete = topo.add_subcommand(
      "complete", "Fill in the GPUs, links and NICs that a skeleton leaves out");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto options = std::make_shared<CompleteOptions>();
  AddTopoSource(*complete, options->source);
  complete->add_option("--machine", options->machine, "A known machine; --list names them");
  complete->add_option("--gpu", options->gpu, "Model of the GPUs that have no known device id");
  complete->add_option("--nvlink", options->layout, "How they are linked")
      ->check(CLI::IsMember({"none", "switch", "pairs", "mesh", "cube-mesh"}));
  complete->add_option("--nic-speed", options->nic_speed,
                       "Of each NIC: 400Gb/s; a number alone is in Mbit/s");
  complete->add_flag("--list", options->list, "Show known machines and GPUs, with sources");
  complete->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
