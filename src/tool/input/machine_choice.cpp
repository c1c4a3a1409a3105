#include "tool/input/machine_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/value/text.hpp"
#include "os/fs/file_tree.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/suggest.hpp"
#include "topo/edit/complete.hpp"
#include "topo/edit/synthetic.hpp"
#include "topo/lint/lint.hpp"

namespace ringlet::cli {
namespace {

using topology::Gpu;
using topology::HostView;

constexpr std::string_view kMachineSuffix = ".xml";
constexpr std::size_t kShownMachineBytesMax = 100;

Error Refused(const std::string& title, const std::string& why) {
  return {Code::kInvalidArgument,
          fmt::format("the machine {}: {}", Printable(title, kShownMachineBytesMax), why)};
}

std::string BusOf(const HostView& view, const Gpu& gpu) {
  return ToString(view.pci[gpu.pci].bus);
}

/// Returns known machines with as many GPUs as a skeleton, and of the same model if it is known.
std::string Candidates(const HostView& view) {
  std::uint32_t gpus = 0;
  const topology::GpuModel* model = nullptr;
  for (const topology::PciDevice& pci : view.pci) {
    if (!pci.device_class || pci.device_class->role() != topology::PciRole::kGpu) continue;
    ++gpus;
    if (const auto* known = topology::FindGpuModel(pci.ids)) model = known;
  }
  std::vector<std::string_view> names;
  for (const topology::KnownMachine& machine : topology::KnownMachines())
    if (machine.gpus == gpus && (model == nullptr || machine.gpu == model->name))
      names.push_back(machine.name);
  return names.empty() ? "NAME" : fmt::format("{}", fmt::join(names, "|"));
}

/// Completes a skeleton, which omits links and rates. Fails if its GPU model has links.
Status CompleteSkeleton(ChosenMachine& machine) {
  if (!IsSkeleton(machine.view)) return Ok();
  const std::string cure =
      fmt::format("complete it first: ringlet topo complete {} --machine {} > complete.xml",
                  machine.title, Candidates(machine.view));
  auto completed = Complete(machine.view, {});
  if (!completed.ok())
    return Refused(machine.title, fmt::format("{}; {}", completed.error().message, cure));
  for (const Gpu& gpu : completed->view.gpus)
    if (const auto* model = topology::FindGpuModel(completed->view.pci[gpu.pci].ids);
        model != nullptr && model->links > 0)
      return Refused(machine.title,
                     fmt::format("the file does not describe the links of its {}; {}",
                                 Counted(completed->view.gpus.size(), "GPU"), cure));
  machine.view = std::move(completed->view);
  for (std::string& note : completed->notes) machine.notes.push_back(std::move(note));
  machine.path.clear();
  return Ok();
}

Status CheckHosts(const ChosenMachine& machine) {
  std::set<std::uint64_t> hosts;
  for (const topology::NumaNode& node : machine.view.numa_nodes)
    hosts.insert(machine.view.HostOf(node));
  if (hosts.size() <= 1) return Ok();
  return Refused(machine.title,
                 fmt::format("it describes {} hosts; name a file of one host, and add --hosts {}",
                             hosts.size(), hosts.size()));
}

Status CheckGpus(const ChosenMachine& machine) {
  const std::size_t gpus = machine.view.gpus.size();
  if (gpus == 0)
    return Refused(machine.title, "it does not have GPUs; ringlet topo show lists its parts");
  if (gpus > kEmulatedDevicesMax)
    return Refused(machine.title, fmt::format("it has {} GPUs; at most {} can be emulated", gpus,
                                              kEmulatedDevicesMax));
  for (const Gpu& gpu : machine.view.gpus) {
    constexpr std::uint16_t kAmd = 0x1002;
    if (gpu.gcn.empty() && machine.view.pci[gpu.pci].ids.vendor != kAmd) continue;
    return Error{
        Code::kUnsupported,
        fmt::format("the machine {}: the GPU {} is from AMD ({}), and CUDA programs cannot use it; "
                    "name a machine with NVIDIA GPUs, see --list-machines",
                    Printable(machine.title, kShownMachineBytesMax), BusOf(machine.view, gpu),
                    gpu.gcn.empty() ? "vendor 0x1002" : gpu.gcn)};
  }
  return Ok();
}

/// Checks that each function is one GPU. A program counts one device per function, so it cannot
/// have half a GPU or one GPU twice.
Status CheckFunctions(const ChosenMachine& machine) {
  std::set<std::uint32_t> functions;
  for (const Gpu& gpu : machine.view.gpus) {
    if (functions.insert(gpu.pci).second) continue;
    return Refused(machine.title,
                   fmt::format("{} <gpu> elements are on the function {}; {} cannot be emulated; "
                               "keep one <gpu> for each function",
                               std::ranges::count(machine.view.gpus, gpu.pci, &Gpu::pci),
                               BusOf(machine.view, gpu),
                               gpu.mlopart ? "the logical GPUs (mlopart) of one function"
                                           : "several ranks on one GPU"));
  }
  return Ok();
}

Status FillCapabilities(ChosenMachine& machine) {
  std::uint32_t filled = 0;
  for (Gpu& gpu : machine.view.gpus) {
    if (gpu.compute_capability != 0) continue;
    const auto* model = topology::FindGpuModel(machine.view.pci[gpu.pci].ids);
    if (model == nullptr)
      return Refused(machine.title,
                     fmt::format("the GPU {} lacks a compute capability; write sm=\"90\" at its "
                                 "<gpu>, or the device id of a known model at its <pci>",
                                 BusOf(machine.view, gpu)));
    gpu.compute_capability = model->compute_capability;
    ++filled;
  }
  if (filled == 0) return Ok();
  machine.path.clear();
  machine.notes.push_back(
      fmt::format("the compute capability of {} was taken from the model", Counted(filled, "GPU")));
  return Ok();
}

/// Numbers GPUs from 0 without gaps, as programs count devices. A file may list a part of the GPUs.
Status NumberGpus(ChosenMachine& machine) {
  std::vector<Gpu>& gpus = machine.view.gpus;
  const bool all = std::ranges::all_of(gpus, [](const Gpu& gpu) { return gpu.dev.has_value(); });
  // If a number is missing, sorts by bus id, as NVML does.
  std::map<std::uint64_t, Gpu*> order;
  for (Gpu& gpu : gpus) {
    const std::uint64_t key = all ? *gpu.dev : machine.view.pci[gpu.pci].bus.value;
    const auto [other, first] = order.emplace(key, &gpu);
    if (first) continue;
    return Refused(
        machine.title,
        fmt::format("the GPUs {} and {} have the same {}; write a different dev for each",
                    BusOf(machine.view, *other->second), BusOf(machine.view, gpu),
                    all ? "dev" : "bus id"));
  }
  std::uint32_t next = 0;
  bool changed = false;
  for (const auto& [key, gpu] : order) {
    changed = changed || gpu->dev != next;
    gpu->dev = next++;
  }
  if (!changed) return Ok();
  machine.path.clear();
  machine.notes.push_back(fmt::format("its GPUs were numbered 0 to {} in the order of their {}",
                                      next - 1, all ? "dev" : "bus id"));
  return Ok();
}

Result<ChosenMachine> FromMachineFile(const std::string& title, const std::string& file) {
  std::error_code wrong;
  const auto path = std::filesystem::canonical(file, wrong);
  if (wrong)
    return Error{Code::kSystem,
                 fmt::format("the machine {} cannot be read: {}",
                             Printable(title, kShownMachineBytesMax), wrong.message()),
                 wrong.value()};
  RINGLET_TRY_ASSIGN(const std::string text, ReadUserFile(path.string(), topology::kXmlBytesMax));
  const topology::LintReport report = topology::LintXml(text, title);
  if (!report.view) return topology::ViewFromXml(text, title).error();
  RINGLET_TRY_ASSIGN(ChosenMachine machine, MakeChosen(*report.view, title, path.string()));
  if (HasError(report.findings))
    machine.notes.push_back(
        fmt::format("{} has errors; ringlet topo lint {} shows them", title, file));
  return machine;
}

bool LooksLikeFile(const std::string& words) {
  std::error_code ignored;
  return words.ends_with(kMachineSuffix) || words.find('/') != std::string::npos ||
         std::filesystem::is_regular_file(words, ignored);
}

bool LooksLikeDescription(std::string_view words) {
  return words.find("gpu") != std::string_view::npos || words.find('(') != std::string_view::npos;
}

}  // namespace

Result<std::string> FindMachineFolder(const std::string& tool, std::string_view data_folder,
                                      const std::function<bool(const std::string&)>& exists) {
  const std::filesystem::path beside = std::filesystem::path(tool).parent_path();
  for (const std::filesystem::path& found :
       {beside / "../machines", beside / data_folder / "ringlet/machines"})
    if (exists((found / "README.md").lexically_normal().string()))
      return found.lexically_normal().string();
  return Error{Code::kUnsupported, fmt::format("the named machines are missing beside {}: name a "
                                               "topology file, or build or install all of Ringlet",
                                               Printable(tool, kShownMachineBytesMax))};
}

Result<std::vector<std::string>> MachineNames(const std::string& folder) {
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open(folder));
  RINGLET_TRY_ASSIGN(const std::vector<std::string> entries, files.List(""));
  std::vector<std::string> names;
  for (const std::string& entry : entries)
    if (entry.ends_with(kMachineSuffix))
      names.push_back(entry.substr(0, entry.size() - kMachineSuffix.size()));
  std::ranges::sort(names);
  return names;
}

std::string MachineFile(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}{}", folder, name, kMachineSuffix);
}

std::string MachineNamed(std::string_view words, const std::vector<std::string>& names) {
  const auto named = std::ranges::find_if(
      names, [&](std::string_view name) { return EqualIgnoringCase(name, words); });
  return named == names.end() ? "" : *named;
}

Result<ChosenMachine> MakeChosen(HostView view, std::string title, std::string path) {
  ChosenMachine machine{
      .title = std::move(title), .view = std::move(view), .path = std::move(path), .notes = {}};
  RINGLET_TRY(CompleteSkeleton(machine));
  RINGLET_TRY(CheckHosts(machine));
  RINGLET_TRY(CheckGpus(machine));
  RINGLET_TRY(CheckFunctions(machine));
  RINGLET_TRY(FillCapabilities(machine));
  RINGLET_TRY(NumberGpus(machine));
  return machine;
}

Result<ChosenMachine> ChooseMachine(const std::string& words, const std::string& folder) {
  RINGLET_TRY_ASSIGN(const std::vector<std::string> names, MachineNames(folder));
  if (const std::string name = MachineNamed(words, names); !name.empty())
    return FromMachineFile(name, MachineFile(folder, name));
  if (LooksLikeFile(words)) return FromMachineFile(words, words);
  if (LooksLikeDescription(words)) {
    RINGLET_TRY_ASSIGN(HostView view, topology::ParseSynthetic(words));
    return MakeChosen(std::move(view), words, "");
  }
  return Error{Code::kInvalidArgument,
               fmt::format("no machine is called {}{}; ringlet emulate --list-machines shows all "
                           "names, and file names end in .xml",
                           Printable(words, kShownMachineBytesMax), DidYouMean(words, names))};
}

}  // namespace ringlet::cli
