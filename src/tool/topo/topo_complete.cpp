#include "tool/topo/topo_complete.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/quantity.hpp"
#include "tool/text/terminal.hpp"
#include "tool/text/value_types.hpp"
#include "tool/topo/topo_paths.hpp"
#include "topo/edit/complete.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::cli {
namespace {

using topology::Completion;

struct CompleteOptions {
  TopoSource source;
  std::string machine, gpu, layout;
  std::string nic_speed;
  bool list = false;
  bool json = false;
};

std::string KnownText() {
  std::string text = "Machines:\n";
  for (const topology::KnownMachine& machine : topology::KnownMachines())
    text += fmt::format("  {:<22} {} {}, links {}, NICs of {} Mbit/s\n  {:<22} {}\n", machine.name,
                        machine.gpus, machine.gpu, LayoutName(machine.layout),
                        machine.nic_mbit_per_s, "", machine.source);
  text += "GPUs:\n";
  for (const topology::GpuModel& model : topology::GpuModels())
    text += fmt::format("  {:<22} device 0x{:04x}, {}, {}, PCIe {}.0\n", model.name, model.device,
                        ArchitectureText(model.gcn, model.compute_capability),
                        Counted(model.links, "link"), model.pcie_generation);
  return text;
}

std::string KnownJson() {
  nlohmann::ordered_json json{{"machines", nlohmann::ordered_json::array()},
                              {"gpus", nlohmann::ordered_json::array()}};
  for (const topology::KnownMachine& machine : topology::KnownMachines())
    json["machines"].push_back({{"name", machine.name},
                                {"gpus", machine.gpus},
                                {"gpu", machine.gpu},
                                {"nvlink", LayoutName(machine.layout)},
                                {"nic_mbit_per_s", machine.nic_mbit_per_s},
                                {"source", machine.source}});
  for (const topology::GpuModel& model : topology::GpuModels())
    json["gpus"].push_back({{"name", model.name},
                            {"device", fmt::format("0x{:04x}", model.device)},
                            {"architecture", ArchitectureText(model.gcn, model.compute_capability)},
                            {"links", model.links},
                            {"pcie_generation", model.pcie_generation}});
  return JsonText(json);
}

Error Unknown(std::string_view what, const std::string& name) {
  return {Code::kInvalidArgument,
          fmt::format("no {} is called {}; see ringlet topo complete --list", what, name)};
}

Result<std::uint32_t> MbitPerS(const std::string& text) {
  constexpr std::uint64_t kMost = 8'000'000;  // 1000 GB/s, as in ParseBandwidth
  const auto number = ParseDecimal(text);
  if (number && *number > 0 && *number <= kMost) return static_cast<std::uint32_t>(*number);
  RINGLET_TRY_ASSIGN(const std::uint64_t mb_per_s, ParseBandwidth(text));
  if (mb_per_s > 0) return static_cast<std::uint32_t>(mb_per_s * 8);
  return Error{Code::kInvalidArgument, "--nic-speed: the speed cannot be 0"};
}

/// Returns the values of the known machine, replaced by those of other options.
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
                   fmt::format("--nvlink takes none, switch, pairs, mesh or cube-mesh, not {}",
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
    if (options.json)
      fmt::print("{}", KnownJson());
    else
      PrintFitted(KnownText());
    return kExitDone;
  }
  const Result<LoadedTopology> loaded = LoadTopology(options.source);
  if (!loaded.ok()) return Fail("topo complete", loaded.error());
  const Result<Completion> completion = CompletionFrom(options);
  if (!completion.ok()) return Fail("topo complete", completion.error());
  const Result<topology::Completed> completed = Complete(loaded->view, *completion);
  if (!completed.ok()) return Fail("topo complete", completed.error());
  for (const std::string& note : completed->notes) PrintNote("topo complete", note);
  if (completed->notes.empty()) PrintNote("topo complete", "the machine is already complete");
  fmt::print("{}", ToXml(completed->view));
  return kExitDone;
}

}  // namespace

void AddTopoComplete(CLI::App& topo, Action& chosen) {
  CLI::App* complete =
      topo.add_subcommand("complete", "Add the GPUs, links and NICs that a skeleton lacks");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<CompleteOptions>();
  AddTopoSource(*complete, options->source);
  complete->add_option("--machine", options->machine, "A known machine; --list shows all");
  complete->add_option("--gpu", options->gpu, "Model of the GPUs without a known device id");
  complete->add_option("--nvlink", options->layout, "Links between the GPUs")
      ->check(CLI::IsMember({"none", "switch", "pairs", "mesh", "cube-mesh"}));
  complete
      ->add_option("--nic-speed", options->nic_speed,
                   "Speed of each NIC: 400Gb/s; a number without unit is in Mbit/s")
      ->type_name(kRateType);
  auto* const list =
      complete->add_flag("--list", options->list, "Show known machines and GPUs, with sources");
  complete->add_flag("--json", options->json, "With --list, print one object: machines, gpus")
      ->needs(list);
  complete->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
