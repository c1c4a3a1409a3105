#include "discovery/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/value/text.hpp"
#include "os/fs/shared_library.hpp"
#include "topology/view/known_devices.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::C2cLink;
using topology::GpuLink;
using topology::NvlinkFabric;
using topology::NvLinksMax;

// NVML's binary interface. Published names keep their sizes and numbers.

using ReturnCode = int;  // nvmlReturn_t
constexpr ReturnCode kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6;
using Device = void*;

struct PciInfo {  // nvmlPciInfo_t; older functions fill only fields before bus_id
  std::array<char, 16> bus_id_legacy;
  std::uint32_t domain, bus, device;
  std::uint32_t device_id;  // device << 16 | vendor
  std::uint32_t subsystem_id;
  std::array<char, 32> bus_id;
};
static_assert(sizeof(PciInfo) == 68);

struct FieldValue {  // nvmlFieldValue_t
  std::uint32_t field, scope;
  std::int64_t timestamp, latency;
  std::int32_t type;
  ReturnCode result;
  union {
    double real;
    std::uint32_t u32;
    std::uint64_t u64;
    std::int64_t s64;
    std::int32_t s32;
    std::uint16_t u16;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

struct FabricInfo {  // nvmlGpuFabricInfo_t
  std::array<std::uint8_t, 16> cluster;
  ReturnCode status;
  std::uint32_t clique;
  std::uint8_t state;
};
static_assert(sizeof(FabricInfo) == 28);

struct FabricInfo2 {  // nvmlGpuFabricInfo_v2_t
  std::uint32_t version;
  FabricInfo info;
  std::uint32_t health;
};
static_assert(sizeof(FabricInfo2) == 36);

constexpr std::uint32_t kFabricVersion2 = sizeof(FabricInfo2) | 2u << 24;
constexpr std::uint8_t kFabricCompleted = 3;
constexpr std::uint32_t kCapabilityP2p = 0;
constexpr std::uint32_t kFieldNvLinkState = 165;
constexpr std::uint32_t kFieldC2cCount = 170, kFieldC2cStatus = 171, kFieldC2cSpeed = 172;
constexpr std::uint32_t kC2cLinksMax = 64;

using Plain = ReturnCode();
using GetText = ReturnCode(Device, char*, std::uint32_t);
using GetNumber = ReturnCode(Device, std::uint32_t*);
using GetLinkPci = ReturnCode(Device, std::uint32_t, PciInfo*);

/// The functions of the library; null if missing.
struct NvmlFunctions {
  Plain* init;
  Plain* shutdown;
  const char* (*error_string)(ReturnCode);
  ReturnCode (*driver_version)(char*, std::uint32_t);
  ReturnCode (*count)(std::uint32_t*);
  ReturnCode (*handle)(std::uint32_t, Device*);
  ReturnCode (*pci)(Device, PciInfo*);
  GetText* name;
  ReturnCode (*capability)(Device, std::int32_t*, std::int32_t*);
  GetNumber *generation_max, *generation_now, *width_now, *width_max;
  ReturnCode (*link_capability)(Device, std::uint32_t, std::uint32_t, std::uint32_t*);
  ReturnCode (*link_state)(Device, std::uint32_t, std::uint32_t*);
  GetLinkPci* link_remote;
  bool link_remote_is_old;
  ReturnCode (*fields)(Device, std::int32_t, FieldValue*);
  ReturnCode (*fabric)(Device, FabricInfo*);
  ReturnCode (*fabric2)(Device, FabricInfo2*);
};

NvmlFunctions FindAll(const os::SharedLibrary& library) {
  NvmlFunctions f{};
  // Finds a function with the type of its member.
  const auto find = [&](auto& member, std::initializer_list<const char*> names) {
    using Function = std::remove_reference_t<decltype(*member)>;
    for (const char* name : names)
      if (member == nullptr) member = library.Find<Function>(name);
  };
  find(f.init, {"nvmlInit_v2", "nvmlInit"});
  find(f.shutdown, {"nvmlShutdown"});
  find(f.error_string, {"nvmlErrorString"});
  find(f.driver_version, {"nvmlSystemGetDriverVersion"});
  find(f.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(f.handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  find(f.pci, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  find(f.name, {"nvmlDeviceGetName"});
  find(f.capability, {"nvmlDeviceGetCudaComputeCapability"});
  find(f.generation_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  find(f.generation_now, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  find(f.width_now, {"nvmlDeviceGetCurrPcieLinkWidth"});
  find(f.width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  find(f.link_capability, {"nvmlDeviceGetNvLinkCapability"});
  find(f.link_state, {"nvmlDeviceGetNvLinkState"});
  find(f.link_remote, {"nvmlDeviceGetNvLinkRemotePciInfo_v2"});
  f.link_remote_is_old = f.link_remote == nullptr;
  find(f.link_remote, {"nvmlDeviceGetNvLinkRemotePciInfo"});
  find(f.fields, {"nvmlDeviceGetFieldValues"});
  find(f.fabric, {"nvmlDeviceGetGpuFabricInfo"});
  find(f.fabric2, {"nvmlDeviceGetGpuFabricInfoV"});
  return f;
}

/// Returns the contents of a buffer from the library up to the terminator.
template <std::size_t N>
std::string TextIn(const std::array<char, N>& buffer) {
  return {buffer.data(),
          static_cast<std::size_t>(std::find(buffer.begin(), buffer.end(), '\0') - buffer.begin())};
}

/// Returns the address of a neighbour; empty if the driver hides it, as from a virtual machine.
std::optional<BusId> AddressIn(const PciInfo& info, bool old) {
  const Result<BusId> bus = BusId::Parse(old ? TextIn(info.bus_id_legacy) : TextIn(info.bus_id));
  if (!bus.ok() || IsHidden(*bus)) return std::nullopt;
  return *bus;
}

std::optional<std::uint64_t> NumberIn(const FieldValue& field) {
  if (field.result != kSuccess) return std::nullopt;
  const auto positive = [](std::int64_t number) -> std::optional<std::uint64_t> {
    return number < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(number));
  };
  switch (field.type) {  // nvmlValueType_t
    case 1: return field.value.u32;
    case 2:
    case 3: return field.value.u64;
    case 4: return positive(field.value.s64);
    case 5: return positive(field.value.s32);
    case 6: return field.value.u16;
    default: return std::nullopt;
  }
}

/// An initialised library; the destructor shuts it down.
class NvmlSession {
 public:
  NvmlSession(const NvmlFunctions& functions, GpuReport& report) : f_(functions), report_(report) {}
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;
  ~NvmlSession() { f_.shutdown(); }

  void ReadAll() {
    if (std::array<char, 96> version{};
        f_.driver_version != nullptr &&
        f_.driver_version(version.data(), static_cast<std::uint32_t>(version.size())) == kSuccess)
      report_.driver = TextIn(version);
    std::uint32_t count = 0;
    if (!CheckCode(f_.count(&count), "does not report the number of GPUs")) return;
    if (count > kGpusOfHostMax) RecordMissing(fmt::format("reports {} GPUs", count));
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, kGpusOfHostMax); ++i) ReadGpu(i);
  }

 private:
  void RecordMissing(std::string_view what) {
    report_.missing.push_back(fmt::format("NVIDIA's driver {}", what));
  }
  std::string Words(ReturnCode code) const {
    const char* const text = f_.error_string == nullptr ? nullptr : f_.error_string(code);
    return text == nullptr ? fmt::format("error {}", code) : Printable(text, 100);
  }
  bool CheckCode(ReturnCode code, std::string_view otherwise) {
    if (code != kSuccess) RecordMissing(fmt::format("{}: {}", otherwise, Words(code)));
    return code == kSuccess;
  }
  /// True if the error only means that a GPU lacks the feature.
  static bool IsUnsupported(ReturnCode code) {
    return code == kNotSupported || code == kNotFound || code == kInvalidArgument;
  }

  void ReadGpu(std::uint32_t index) {
    Device device = nullptr;
    if (!CheckCode(f_.handle(index, &device), fmt::format("gives no access to GPU {}", index)))
      return;
    PciInfo pci{};
    if (!CheckCode(f_.pci(device, &pci),
                   fmt::format("does not report the PCI address of GPU {}", index)))
      return;
    GpuReading gpu;
    gpu.index = index;
    gpu.bus = BusId::Of(pci.domain, static_cast<std::uint8_t>(pci.bus),
                        static_cast<std::uint8_t>(pci.device), 0);
    gpu.ids = {.vendor = static_cast<std::uint16_t>(pci.device_id),
               .device = static_cast<std::uint16_t>(pci.device_id >> 16),
               .subsystem_vendor = static_cast<std::uint16_t>(pci.subsystem_id),
               .subsystem_device = static_cast<std::uint16_t>(pci.subsystem_id >> 16)};
    ReadModel(device, gpu);
    ReadPcie(device, gpu);
    ReadNvLinks(device, gpu);
    if (gpu.compute_capability >= 90) {
      ReadC2c(device, gpu);
      ReadFabric(device, gpu);
    }
    report_.gpus.push_back(std::move(gpu));
  }

  void ReadModel(Device device, GpuReading& gpu) {
    if (std::array<char, 96> name{};
        f_.name != nullptr &&
        f_.name(device, name.data(), static_cast<std::uint32_t>(name.size())) == kSuccess)
      gpu.name = TextIn(name);
    constexpr std::int32_t kMajorMax = 99, kMinorMax = 9;
    std::int32_t major = 0, minor = 0;
    const ReturnCode code =
        f_.capability == nullptr ? kNotFound : f_.capability(device, &major, &minor);
    if (!CheckCode(code,
                   fmt::format("does not report the compute capability of GPU {}", gpu.index)))
      return;
    if (major > 0 && major <= kMajorMax && minor >= 0 && minor <= kMinorMax)
      gpu.compute_capability = static_cast<std::uint32_t>(major * 10 + minor);
  }

  /// Returns the first of two functions' results that is in 1 to `max`; 0 if neither is.
  static std::uint32_t FirstOf(GetNumber* first, GetNumber* second, Device device,
                               std::uint32_t max) {
    for (GetNumber* const ask : {first, second}) {
      std::uint32_t number = 0;
      if (ask != nullptr && ask(device, &number) == kSuccess && number >= 1 && number <= max)
        return number;
    }
    return 0;
  }

  void ReadPcie(Device device, GpuReading& gpu) {
    constexpr std::uint32_t kGenerationMax = 7, kWidthMax = 32;
    gpu.pcie_generation = static_cast<std::uint8_t>(
        FirstOf(f_.generation_max, f_.generation_now, device, kGenerationMax));
    gpu.pcie_width =
        static_cast<std::uint16_t>(FirstOf(f_.width_now, f_.width_max, device, kWidthMax));
  }

  std::optional<std::uint64_t> Field(Device device, std::uint32_t field, std::uint32_t scope) {
    FieldValue value{};
    value.field = field;
    value.scope = scope;
    if (f_.fields == nullptr || f_.fields(device, 1, &value) != kSuccess) return std::nullopt;
    return NumberIn(value);
  }

  bool IsActive(Device device, const GpuReading& gpu, std::uint32_t link) {
    // From Hopper on, the older function does not answer for all links.
    if (gpu.compute_capability >= 90 && f_.fields != nullptr)
      if (const auto state = Field(device, kFieldNvLinkState, link)) return *state == 1;
    std::uint32_t active = 0;
    return f_.link_state != nullptr && f_.link_state(device, link, &active) == kSuccess &&
           active == 1;
  }

  void ReadNvLinks(Device device, GpuReading& gpu) {
    if (f_.link_capability == nullptr || f_.link_remote == nullptr) {
      if (NvLinksMax(gpu.compute_capability) != 0)
        RecordMissing(fmt::format("is too old to report the NVLinks of GPU {}", gpu.index));
      return;
    }
    for (std::uint32_t link = 0; link < NvLinksMax(gpu.compute_capability); ++link) {
      std::uint32_t able = 0;
      const ReturnCode code = f_.link_capability(device, link, kCapabilityP2p, &able);
      if (code != kSuccess && !IsUnsupported(code)) {
        RecordMissing(
            fmt::format("does not report NVLink {} of GPU {}: {}", link, gpu.index, Words(code)));
        continue;
      }
      if (code != kSuccess || able != 1 || !IsActive(device, gpu, link)) continue;
      PciInfo remote{};
      const ReturnCode reached = f_.link_remote(device, link, &remote);
      if (reached != kSuccess) {
        RecordMissing(fmt::format("does not report the remote end of NVLink {} of GPU {}: {}", link,
                                  gpu.index, Words(reached)));
        continue;
      }
      CountLink(gpu, AddressIn(remote, f_.link_remote_is_old));
    }
  }

  static void CountLink(GpuReading& gpu, std::optional<BusId> target) {
    const auto known = std::find_if(gpu.links.begin(), gpu.links.end(),
                                    [&](const GpuLink& link) { return link.target == target; });
    if (known != gpu.links.end()) {
      ++known->count;
    } else {
      gpu.links.push_back({.target = target, .count = 1});
    }
  }

  void ReadC2c(Device device, GpuReading& gpu) {
    const std::uint64_t count = Field(device, kFieldC2cCount, 0).value_or(0);
    C2cLink good;
    for (std::uint32_t link = 0; link < std::min<std::uint64_t>(count, kC2cLinksMax); ++link) {
      if (Field(device, kFieldC2cStatus, link) != 1u) continue;
      const auto speed = Field(device, kFieldC2cSpeed, link);
      if (!speed || *speed > ~std::uint32_t{0}) continue;
      good.mb_per_s = static_cast<std::uint32_t>(*speed);
      ++good.count;
    }
    if (good.count != 0) gpu.c2c.push_back(good);
  }

  void ReadFabric(Device device, GpuReading& gpu) {
    FabricInfo2 info{};
    info.version = kFabricVersion2;
    ReturnCode code = f_.fabric2 == nullptr ? kNotFound : f_.fabric2(device, &info);
    if (code != kSuccess && f_.fabric != nullptr) {
      info.info = {};
      code = f_.fabric(device, &info.info);
    }
    if (code != kSuccess && !IsUnsupported(code))
      RecordMissing(
          fmt::format("does not report the NVLink domain of GPU {}: {}", gpu.index, Words(code)));
    if (code != kSuccess || info.info.state != kFabricCompleted || info.info.status != kSuccess)
      return;
    NvlinkFabric fabric;
    for (std::size_t i = 0; i < info.info.cluster.size(); ++i) {
      std::uint64_t& half = fabric.cluster[i / 8];
      half = half << 8 | info.info.cluster[i];
    }
    fabric.clique = info.info.clique;
    if (fabric.cluster[0] != 0 || fabric.cluster[1] != 0) gpu.fabric = fabric;
  }

  const NvmlFunctions& f_;
  GpuReport& report_;
};

}  // namespace

Result<GpuReport> Nvml::Read() {
  RINGLET_TRY_ASSIGN(const os::SharedLibrary library, os::SharedLibrary::Open(library_));
  const NvmlFunctions functions = FindAll(library);
  if (functions.init == nullptr || functions.shutdown == nullptr || functions.count == nullptr ||
      functions.handle == nullptr || functions.pci == nullptr)
    return Error{Code::kUnsupported,
                 fmt::format("{} lacks functions that every NVML has", Printable(library_, 200))};
  if (const ReturnCode code = functions.init(); code != kSuccess) {
    const char* const text =
        functions.error_string == nullptr ? nullptr : functions.error_string(code);
    return Error{Code::kSystem, fmt::format("NVIDIA's driver does not answer: {}",
                                            text == nullptr ? fmt::format("error {}", code)
                                                            : Printable(text, 100))};
  }
  GpuReport report;
  NvmlSession(functions, report).ReadAll();
  return report;
}

}  // namespace ringlet::discovery
