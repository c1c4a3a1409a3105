// libnvidia-ml.so.1: the links of devices and the machine, from the machine's file.
#include <algorithm>
#include <array>
#include <climits>
#include <span>

#include "emulate/host/device_facts.hpp"
#include "emulate/management/nvml_call.hpp"

namespace ringlet::cuda {
namespace {

/// nvmlIntNvLinkDeviceType_t.
enum NvmlLinkEnd : unsigned { kEndGpu = 0, kEndProcessor = 1, kEndSwitch = 2 };
/// nvmlNvLinkCapability_t; the last one reports whether the link exists.
enum NvmlLinkCapability : unsigned { kSliBridge = 4, kLinkCapabilityLast = 5 };
/// The address of a hidden device.
constexpr PciPlace kHiddenPlace = {0x0fffffff, 0xff, 0xff, 0};

/// nvmlGpuP2PCapsIndex_t and nvmlGpuP2PStatus_t.
enum NvmlPeerIndex : int { kPeerRead, kPeerWrite, kPeerNvLink, kPeerAtomics, kPeerPci };
enum NvmlPeerStatus : int {
  kPeerOk = 0,
  kPeerGpuNotSupported = 2,
  kPeerTopologyNotSupported = 3,
  kPeerNotSupported = 5,
};

/// nvmlGpuTopologyLevel_t.
enum NvmlLevel : unsigned {
  kLevelInternal = 0,
  kLevelSingle = 10,
  kLevelMultiple = 20,
  kLevelNode = 40,
  kLevelSystem = 50,
};

struct NvmlFabric {
  std::array<unsigned char, 16> cluster;
  int status;
  unsigned clique;
  unsigned char state;
};
static_assert(sizeof(NvmlFabric) == 28);
struct NvmlFabric2 {
  unsigned version;
  NvmlFabric info;
  unsigned health_mask;
};
static_assert(sizeof(NvmlFabric2) == 36);
struct NvmlFabric3 {
  unsigned version;
  NvmlFabric info;
  unsigned health_mask;
  unsigned char health_summary;
};
static_assert(sizeof(NvmlFabric3) == 40);
constexpr unsigned kFabric2 = sizeof(NvmlFabric2) | 2U << 24;
constexpr unsigned kFabric3 = sizeof(NvmlFabric3) | 3U << 24;
constexpr unsigned char kFabricNotSupported = 0, kFabricCompleted = 3;
constexpr std::uint32_t kFabricCapabilityMin = 90;

struct NvmlField {
  unsigned field, scope;
  long long timestamp, latency;
  int type, result;
  union {
    unsigned number;
    unsigned long long bytes;
  } value;
};
static_assert(sizeof(NvmlField) == 40);
constexpr int kFieldsMax = 1024;
/// NVML_FI_DEV_...
enum NvmlFieldId : unsigned {
  kFieldLinkCount = 91,
  kFieldLinkState = 165,
  kFieldLinkVersion = 166,
  kFieldProcessorLinkCount = 170,
  kFieldProcessorLinkStatus = 171,
  kFieldProcessorLinkSpeed = 172,
};

// Runs `body` with the link of a device; with null if the link exists but is not connected.
template <typename Body>
int OfLink(NvmlDevice device, unsigned link, Body&& body) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    const CudaDeviceFacts& facts = Facts(number);
    if (facts.links_max == 0) return kNvmlNotSupported;
    if (link >= facts.links_max) return kNvmlInvalidArgument;
    return body(link < facts.links.size() ? &facts.links[link] : nullptr);
  });
}

/// nvmlNvlinkVersion_t.
unsigned LinkVersion(std::uint32_t capability) {
  if (capability < 70) return 1;    // 1.0
  if (capability < 80) return 2;    // 2.0
  if (capability < 90) return 4;    // 3.0
  return capability < 100 ? 6 : 7;  // 4.0, 5.0
}

int PeerStatus(std::uint32_t a, std::uint32_t b, int index) {
  const PeerPath way = Host().machine().Peer(a, b);
  switch (index) {
    case kPeerNvLink:
    case kPeerAtomics: return way == PeerPath::kNvLink ? kPeerOk : kPeerNotSupported;
    case kPeerPci:
      if (way == PeerPath::kPci) return kPeerOk;
      break;
    default: break;
  }
  if (way != PeerPath::kNone) return index == kPeerPci ? kPeerNotSupported : kPeerOk;
  return Host().machine().Nearness(a, b) == DeviceNearness::kSystem ? kPeerTopologyNotSupported
                                                                    : kPeerGpuNotSupported;
}

int WritePositive(unsigned value, unsigned* out) {
  return value == 0 ? static_cast<int>(kNvmlNotSupported) : WriteNumber(value, out);
}

std::optional<unsigned> LinkField(const CudaDeviceFacts& facts, unsigned field, unsigned link) {
  if (field == kFieldLinkCount) return facts.links_max;
  if (link >= facts.links_max) return std::nullopt;
  if (field == kFieldLinkState) return link < facts.links.size() ? 1U : 0U;
  if (field == kFieldLinkVersion) return LinkVersion(facts.capability);
  return std::nullopt;
}

std::optional<unsigned> ProcessorLinkField(const ProcessorLinks& links, unsigned field,
                                           unsigned link) {
  if (field == kFieldProcessorLinkCount) return links.count;
  if (link >= links.count) return std::nullopt;
  if (field == kFieldProcessorLinkStatus) return 1;
  if (field == kFieldProcessorLinkSpeed) return links.mb_per_s;
  return std::nullopt;
}

std::optional<unsigned> FieldOf(const CudaDeviceFacts& facts, const NvmlField& field) {
  if (facts.links_max > 0)
    if (const auto value = LinkField(facts, field.field, field.scope)) return value;
  if (facts.processor_links)
    return ProcessorLinkField(*facts.processor_links, field.field, field.scope);
  return std::nullopt;
}

// Copies the words of `mask` that fit, and clears the remaining words.
int CopyMask(const std::vector<std::uint64_t>& mask, unsigned words, unsigned long* out) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  if (out == nullptr || words == 0) return kNvmlInvalidArgument;
  if (mask.empty()) return kNvmlNotSupported;
  const std::span<unsigned long> room(out, words);
  std::ranges::fill(room, 0UL);
  std::copy_n(mask.begin(), std::min<std::size_t>(mask.size(), room.size()), room.begin());
  return kNvmlSuccess;
}

int WriteFabric(const CudaDeviceFacts& facts, NvmlFabric& fabric) {
  if (facts.capability < kFabricCapabilityMin && !facts.domain) return kNvmlNotSupported;
  fabric = {};
  fabric.state = facts.domain ? kFabricCompleted : kFabricNotSupported;
  if (!facts.domain) return kNvmlSuccess;
  fabric.cluster = facts.domain->cluster;
  fabric.clique = facts.domain->clique;
  return kNvmlSuccess;
}

}  // namespace

RINGLET_NVML_FUNCTION int nvmlDeviceGetNvLinkState(NvmlDevice device, unsigned link,
                                                   unsigned* active) {
  return OfLink(device, link,
                [&](const LinkEnd* end) { return WriteNumber(end != nullptr ? 1 : 0, active); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetNvLinkVersion(NvmlDevice device, unsigned link,
                                                     unsigned* version) {
  return OfDevice(device, [&](std::uint32_t number) {
    return OfLink(device, link, [&](const LinkEnd*) {
      return WriteNumber(LinkVersion(Facts(number).capability), version);
    });
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetNvLinkCapability(NvmlDevice device, unsigned link,
                                                        unsigned capability, unsigned* has) {
  return OfLink(device, link, [&](const LinkEnd* end) -> int {
    if (capability > kLinkCapabilityLast) return kNvmlInvalidArgument;
    return WriteNumber(end != nullptr && capability != kSliBridge ? 1 : 0, has);
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetNvLinkRemotePciInfo_v2(NvmlDevice device, unsigned link,
                                                              NvmlPci* pci) {
  return OfLink(device, link, [&](const LinkEnd* end) -> int {
    if (pci == nullptr) return kNvmlInvalidArgument;
    if (end == nullptr) return kNvmlNotSupported;
    *pci = {};
    FillNvmlPci(end->at.value_or(kHiddenPlace), *pci);
    if (const auto peer = end->at ? Host().machine().At(*end->at) : std::nullopt)
      pci->device_id = Facts(*peer).pci_id;
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetNvLinkRemoteDeviceType(NvmlDevice device, unsigned link,
                                                              unsigned* type) {
  return OfLink(device, link, [&](const LinkEnd* end) -> int {
    if (end == nullptr) return kNvmlNotSupported;
    switch (end->kind) {
      case LinkEndKind::kGpu: return WriteNumber(kEndGpu, type);
      case LinkEndKind::kProcessor: return WriteNumber(kEndProcessor, type);
      case LinkEndKind::kSwitch: break;
    }
    return WriteNumber(kEndSwitch, type);
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetP2PStatus(NvmlDevice a, NvmlDevice b, int index,
                                                 int* status) {
  return OfDevice(a, [&](std::uint32_t from) {
    return OfDevice(b, [&](std::uint32_t to) -> int {
      if (status == nullptr || index < kPeerRead || index > kPeerPci || from == to)
        return kNvmlInvalidArgument;
      *status = PeerStatus(from, to, index);
      return kNvmlSuccess;
    });
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetTopologyCommonAncestor(NvmlDevice a, NvmlDevice b,
                                                              unsigned* level) {
  return OfDevice(a, [&](std::uint32_t from) {
    return OfDevice(b, [&](std::uint32_t to) {
      switch (Host().machine().Nearness(from, to)) {
        case DeviceNearness::kSame: return WriteNumber(kLevelInternal, level);
        case DeviceNearness::kSwitch: return WriteNumber(kLevelSingle, level);
        case DeviceNearness::kSwitches: return WriteNumber(kLevelMultiple, level);
        case DeviceNearness::kNode: return WriteNumber(kLevelNode, level);
        case DeviceNearness::kSystem: break;
      }
      return WriteNumber(kLevelSystem, level);
    });
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCpuAffinity(NvmlDevice device, unsigned words,
                                                   unsigned long* cpus) {
  return OfDevice(device,
                  [&](std::uint32_t number) { return CopyMask(Facts(number).cpus, words, cpus); });
}

// The scope is a NUMA node or a socket; a topology file contains only nodes.
RINGLET_NVML_FUNCTION int nvmlDeviceGetCpuAffinityWithinScope(NvmlDevice device, unsigned words,
                                                              unsigned long* cpus, unsigned) {
  return nvmlDeviceGetCpuAffinity(device, words, cpus);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMemoryAffinity(NvmlDevice device, unsigned words,
                                                      unsigned long* nodes, unsigned) {
  constexpr unsigned kBits = sizeof(unsigned long) * CHAR_BIT;
  return OfDevice(device, [&](std::uint32_t number) -> int {
    const auto& numa = Facts(number).numa;
    if (!numa) return kNvmlNotSupported;
    std::vector<std::uint64_t> mask(std::min(*numa / kBits, words) + 1);
    mask.back() = *numa / kBits <= words ? std::uint64_t{1} << *numa % kBits : 0;
    return CopyMask(mask, words, nodes);
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCurrPcieLinkGeneration(NvmlDevice device, unsigned* value) {
  return OfDevice(device, [&](std::uint32_t number) {
    return WritePositive(Facts(number).pcie_generation, value);
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMaxPcieLinkGeneration(NvmlDevice device, unsigned* value) {
  return nvmlDeviceGetCurrPcieLinkGeneration(device, value);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetCurrPcieLinkWidth(NvmlDevice device, unsigned* value) {
  return OfDevice(
      device, [&](std::uint32_t number) { return WritePositive(Facts(number).pcie_width, value); });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetMaxPcieLinkWidth(NvmlDevice device, unsigned* value) {
  return nvmlDeviceGetCurrPcieLinkWidth(device, value);
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetFieldValues(NvmlDevice device, int count,
                                                   NvmlField* fields) {
  constexpr int kTypeUnsigned = 1;
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (fields == nullptr || count < 1 || count > kFieldsMax) return kNvmlInvalidArgument;
    for (NvmlField& field : std::span(fields, static_cast<std::size_t>(count))) {
      const auto value = FieldOf(Facts(number), field);
      field.timestamp = field.latency = 0;
      field.type = kTypeUnsigned;
      field.result = value ? kNvmlSuccess : kNvmlNotSupported;
      field.value.bytes = 0;
      field.value.number = value.value_or(0);
    }
    return kNvmlSuccess;
  });
}

RINGLET_NVML_FUNCTION int nvmlDeviceGetGpuFabricInfo(NvmlDevice device, NvmlFabric* fabric) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (fabric == nullptr) return kNvmlInvalidArgument;
    return WriteFabric(Facts(number), *fabric);
  });
}

// The first field of the structure contains the program's version of it.
RINGLET_NVML_FUNCTION int nvmlDeviceGetGpuFabricInfoV(NvmlDevice device, NvmlFabric2* fabric) {
  return OfDevice(device, [&](std::uint32_t number) -> int {
    if (fabric == nullptr) return kNvmlInvalidArgument;
    if (fabric->version != kFabric2 && fabric->version != kFabric3) return kNvmlVersionMismatch;
    const int code = WriteFabric(Facts(number), fabric->info);
    if (code != kNvmlSuccess) return code;
    fabric->health_mask = 0;
    if (fabric->version == kFabric3) reinterpret_cast<NvmlFabric3*>(fabric)->health_summary = 0;
    return kNvmlSuccess;
  });
}

}  // namespace ringlet::cuda
