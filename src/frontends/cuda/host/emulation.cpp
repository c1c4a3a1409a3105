#include "frontends/cuda/host/emulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/value/text.hpp"
#include "frontends/cuda/host/device_facts.hpp"

namespace ringlet::cuda {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

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

// By its number, or by the beginning of its UUID as nvidia-smi prints it.
std::optional<std::uint32_t> DeviceNamed(std::string_view name, std::uint32_t devices) {
  if (const auto number = ParseDecimal(name); number && *number < devices)
    return static_cast<std::uint32_t>(*number);
  if (!name.starts_with("GPU-")) return std::nullopt;
  for (std::uint32_t device = 0; device < devices; ++device)
    if (UuidText(device).starts_with(name)) return device;
  return std::nullopt;
}

}  // namespace

Result<Emulation> ReadEmulation(const EnvMap& environment, std::uint64_t physical_bytes) {
  Emulation emulation;
  RINGLET_TRY_ASSIGN(const std::uint64_t devices,
                     Number(environment, kDevicesVariable, 1, 1, kDevicesMax));
  emulation.devices = static_cast<std::uint32_t>(devices);
  const std::uint64_t share =
      std::clamp(physical_bytes / devices / kMebibyte * kMebibyte, kMemoryMin, kMemoryMax);
  RINGLET_TRY_ASSIGN(emulation.memory_bytes,
                     Number(environment, kMemoryVariable, share, kMemoryMin, kMemoryMax));
  if (const auto at = environment.find(kKernelsVariable); at != environment.end())
    for (const std::string_view path : Split(at->second, ':'))
      if (!path.empty()) emulation.kernels.emplace_back(path);
  emulation.verbose = WantsAll(environment);
  return emulation;
}

std::vector<std::uint32_t> VisibleDevices(const EnvMap& environment, std::uint32_t devices) {
  std::vector<std::uint32_t> visible;
  const auto at = environment.find("CUDA_VISIBLE_DEVICES");
  if (at == environment.end()) {
    for (std::uint32_t device = 0; device < devices; ++device) visible.push_back(device);
    return visible;
  }
  for (const std::string_view name : Split(at->second, ',')) {
    const auto device = DeviceNamed(Trim(name), devices);
    if (!device || std::ranges::count(visible, *device) > 0) break;
    visible.push_back(*device);
  }
  return visible;
}

}  // namespace ringlet::cuda
