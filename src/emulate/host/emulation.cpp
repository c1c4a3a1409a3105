#include "emulate/host/emulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/value/text.hpp"

namespace ringlet::cuda {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::size_t kShownPathBytesMax = 200;

Result<std::uint64_t> Number(const EnvMap& environment, const char* name, std::uint64_t fallback,
                             std::uint64_t min, std::uint64_t max) {
  const auto at = environment.find(name);
  if (at == environment.end()) return fallback;
  const std::optional<std::uint64_t> number = ParseDecimal(at->second);
  if (number && *number >= min && *number <= max) return *number;
  return Error{Code::kInvalidArgument, fmt::format("{}={} is not a number from {} to {}", name,
                                                   Printable(at->second, 40), min, max)};
}

bool WantsAll(const EnvMap& environment) {
  const auto at = environment.find("RINGLET_DEBUG");
  if (at == environment.end()) return false;
  const auto is = [&](std::string_view level) { return EqualIgnoringCase(at->second, level); };
  return is("WARN") || is("INFO") || is("TRACE");
}

// Finds a device by number or by a prefix of its UUID, as nvidia-smi prints it.
std::optional<std::uint32_t> DeviceNamed(std::string_view name, const MachineFacts& machine) {
  if (const auto number = ParseDecimal(name); number && *number < machine.devices())
    return static_cast<std::uint32_t>(*number);
  if (!name.starts_with("GPU-")) return std::nullopt;
  for (std::uint32_t device = 0; device < machine.devices(); ++device)
    if (UuidText(machine[device]).starts_with(name)) return device;
  return std::nullopt;
}

Result<MachineFacts> MachineOf(const EnvMap& environment, const topology::HostView* view) {
  RINGLET_TRY_ASSIGN(const std::uint64_t host, Number(environment, kHostVariable, 0, 0, kHostsMax));
  const auto number = static_cast<std::uint32_t>(host);
  if (view == nullptr) {
    RINGLET_TRY_ASSIGN(const std::uint64_t devices,
                       Number(environment, kDevicesVariable, 1, 1, kDevicesMax));
    return MachineFacts::Plain(static_cast<std::uint32_t>(devices), number);
  }
  auto machine = MachineFacts::Of(*view, number);
  const std::string at = fmt::format(
      "{}={}", kMachineVariable, Printable(environment.at(kMachineVariable), kShownPathBytesMax));
  if (!machine.ok())
    return Error{machine.error().code,
                 fmt::format("{}: {}; ringlet emulate --machine completes the machine", at,
                             machine.error().message)};
  const std::uint32_t most = std::min(machine->devices(), kDevicesMax);
  if (most == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} does not have GPUs: name a machine with GPUs", at)};
  RINGLET_TRY_ASSIGN(const std::uint64_t devices,
                     Number(environment, kDevicesVariable, most, 1, most));
  machine->LimitDevices(static_cast<std::uint32_t>(devices));
  return machine;
}

}  // namespace

Result<Emulation> ReadEmulation(const EnvMap& environment, std::uint64_t physical_bytes,
                                const topology::HostView* view) {
  Emulation emulation;
  RINGLET_TRY_ASSIGN(emulation.machine, MachineOf(environment, view));
  const std::uint64_t of_model = emulation.machine[0].memory_bytes;
  const std::uint64_t share =
      std::clamp(physical_bytes / emulation.machine.devices() / kMebibyte * kMebibyte, kMemoryMin,
                 of_model != 0 ? of_model : kMemoryMax);
  emulation.memory_of_model = !environment.contains(kMemoryVariable);
  RINGLET_TRY_ASSIGN(emulation.memory_bytes,
                     Number(environment, kMemoryVariable, share, kMemoryMin, kMemoryMax));
  if (const auto at = environment.find(kKernelsVariable); at != environment.end())
    for (const std::string_view path : Split(at->second, ':'))
      if (!path.empty()) emulation.kernels.emplace_back(path);
  emulation.verbose = WantsAll(environment);
  return emulation;
}

std::vector<std::uint32_t> VisibleDevices(const EnvMap& environment, const MachineFacts& machine) {
  std::vector<std::uint32_t> visible;
  const auto at = environment.find("CUDA_VISIBLE_DEVICES");
  if (at == environment.end()) {
    for (std::uint32_t device = 0; device < machine.devices(); ++device) visible.push_back(device);
    return visible;
  }
  for (const std::string_view name : Split(at->second, ',')) {
    const auto device = DeviceNamed(Trim(name), machine);
    if (!device || std::ranges::count(visible, *device) > 0) break;
    visible.push_back(*device);
  }
  return visible;
}

}  // namespace ringlet::cuda
