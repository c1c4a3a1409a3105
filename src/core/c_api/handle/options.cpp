#include "c_api/handle/options.hpp"

#include <fmt/format.h>

#include <climits>
#include <cstddef>
#include <cstring>

#include "base/value/text.hpp"
#include "c_api/handle/guard.hpp"
#include "comm/run/work.hpp"

namespace ringlet::c_api {
namespace {

constexpr unsigned kSimInfoMagic = 0x74685283;
constexpr std::size_t kKeyBytesMin = 32;  // NCCL's
constexpr std::size_t kNameBytesMax = 128;
constexpr int kContextsMax = static_cast<int>(comm::Signal::kContextsMax);
constexpr int kSignalsMax = static_cast<int>(comm::Signal::kNumbersMax);
constexpr int kChannelsMax = 64;  // NCCL's MAXCHANNELS
constexpr int kPoliciesAll = NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO;

/// An integer field of a struct.
struct Field {
  const char* name;
  std::size_t offset;
  int min, max;
  unsigned since;       ///< first NCCL version with the field
  const char* why_not;  ///< why the field is ignored; null if it is used
};
constexpr const char* kGpu = "it concerns kernels on GPUs";
#define RINGLET_FIELD(name, min, max, since, why_not) \
  { #name, offsetof(ncclConfig_t, name), min, max, since, why_not }
constexpr Field kFields[] = {
    RINGLET_FIELD(blocking, 0, 1, NCCL_VERSION(2, 14, 0), nullptr),
    RINGLET_FIELD(cgaClusterSize, 0, INT_MAX, NCCL_VERSION(2, 17, 0), kGpu),
    RINGLET_FIELD(minCTAs, 1, INT_MAX, NCCL_VERSION(2, 17, 0), kGpu),
    RINGLET_FIELD(maxCTAs, 1, INT_MAX, NCCL_VERSION(2, 17, 0), kGpu),
    RINGLET_FIELD(splitShare, 0, 1, NCCL_VERSION(2, 17, 0),
                  "child communicators always share what they can"),
    RINGLET_FIELD(trafficClass, INT_MIN, INT_MAX, NCCL_VERSION(2, 25, 0),
                  "connections use the system's traffic class"),
    RINGLET_FIELD(collnetEnable, 0, 1, NCCL_VERSION(2, 27, 0),
                  "reductions in the network are not available"),
    RINGLET_FIELD(CTAPolicy, 0, kPoliciesAll, NCCL_VERSION(2, 27, 0), kGpu),
    RINGLET_FIELD(shrinkShare, 0, 1, NCCL_VERSION(2, 27, 0),
                  "child communicators always share what they can"),
    RINGLET_FIELD(nvlsCTAs, 1, INT_MAX, NCCL_VERSION(2, 27, 0), kGpu),
    RINGLET_FIELD(nChannelsPerNetPeer, 1, kChannelsMax, NCCL_VERSION(2, 28, 0),
                  "RINGLET_SOCKETS_PER_LINK sets the number of connections"),
    RINGLET_FIELD(nvlinkCentricSched, 0, 1, NCCL_VERSION(2, 28, 0), kGpu),
    RINGLET_FIELD(graphUsageMode, 0, 2, NCCL_VERSION(2, 29, 0), kGpu),
    RINGLET_FIELD(numRmaCtx, 0, kContextsMax, NCCL_VERSION(2, 29, 0), nullptr),
    RINGLET_FIELD(maxP2pPeers, 1, INT_MAX, NCCL_VERSION(2, 30, 0),
                  "ranks connect to a peer at the first call that needs it"),
    RINGLET_FIELD(graphStreamOrdering, 0, 1, NCCL_VERSION(2, 30, 5), kGpu),
    RINGLET_FIELD(launchOrderImplicit, 0, 1, NCCL_VERSION(2, 31, 0), kGpu),
    RINGLET_FIELD(numRmaSig, 0, kSignalsMax, NCCL_VERSION(2, 31, 0), nullptr),
    RINGLET_FIELD(rmaEagerInit, 0, 1, NCCL_VERSION(2, 31, 0),
                  "one-sided operations need no preparation"),
    RINGLET_FIELD(hostCftMode, ncclHostCftEnable, ncclHostCftFallback, NCCL_VERSION(2, 31, 0),
                  kGpu),
    RINGLET_FIELD(nvlsHostMode, 0, INT_MAX, NCCL_VERSION(2, 31, 0), kGpu),
};
#undef RINGLET_FIELD
#define RINGLET_FIELD(name, min, max) \
  { #name, offsetof(ncclCollConfig_t, name), min, max, 0, nullptr }
constexpr Field kCallFields[] = {
    RINGLET_FIELD(minCTAs, 1, INT_MAX),     RINGLET_FIELD(maxCTAs, 1, INT_MAX),
    RINGLET_FIELD(nvlsCTAs, 1, INT_MAX),    RINGLET_FIELD(cgaClusterSize, 0, INT_MAX),
    RINGLET_FIELD(forceAlgSelection, 0, 1), RINGLET_FIELD(CTAPolicy, 0, kPoliciesAll),
};
#undef RINGLET_FIELD

Error Refused(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

/// Reads a member of the caller's struct. Members beyond its size are unset.
template <typename T, typename Struct>
T ValueAt(const Struct& given, std::size_t offset, unsigned since, T unset) {
  if (offset + sizeof(T) > given.size || given.version < since) return unset;
  T value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(&given) + offset, sizeof value);
  return value;
}
template <typename Struct>
int ValueOf(const Struct& given, const Field& field) {
  return ValueAt(given, field.offset, field.since, NCCL_CONFIG_UNDEF_INT);
}

template <typename Struct>
Status CheckHead(const Struct& given, const char* name, const char* initializer,
                 std::size_t size_min) {
  if (given.magic != NCCL_API_MAGIC)
    return Refused(fmt::format("{}->magic is {:#x}: the config was not made with {}", name,
                               given.magic, initializer));
  if (given.size < size_min)
    return Refused(fmt::format("{}->size is {}, below the {} bytes of the oldest version", name,
                               given.size, size_min));
  return Ok();
}

template <typename Struct, std::size_t size>
Status CheckFields(const Struct& given, const Field (&fields)[size]) {
  for (const Field& field : fields) {
    const int value = ValueOf(given, field);
    if (value == NCCL_CONFIG_UNDEF_INT || (value >= field.min && value <= field.max)) continue;
    return Refused(field.max == INT_MAX
                       ? fmt::format("config->{} is {}, below {}", field.name, value, field.min)
                       : fmt::format("config->{} is {}, not between {} and {}", field.name, value,
                                     field.min, field.max));
  }
  return Ok();
}

/// Checks the order of the bounds. NCCL also refuses a lower bound alone, without a reason.
template <typename Struct>
Status CheckBounds(const Struct& given, unsigned since) {
  const int min = ValueAt(given, offsetof(Struct, minCTAs), since, NCCL_CONFIG_UNDEF_INT);
  const int max = ValueAt(given, offsetof(Struct, maxCTAs), since, NCCL_CONFIG_UNDEF_INT);
  if (min == NCCL_CONFIG_UNDEF_INT || max == NCCL_CONFIG_UNDEF_INT || min <= max) return Ok();
  return Refused(fmt::format("config->minCTAs is {}, above config->maxCTAs, {}", min, max));
}

constexpr unsigned kSinceNetName = NCCL_VERSION(2, 17, 0);
constexpr unsigned kSinceName = NCCL_VERSION(2, 27, 0);

const char* TextOf(const ncclConfig_t& config, std::size_t offset, unsigned since) {
  return ValueAt<const char*>(config, offset, since, nullptr);
}

/// The field's value; 1 if unset.
std::uint32_t CountOf(const ncclConfig_t& config, std::size_t offset, unsigned since) {
  const int value = ValueAt(config, offset, since, NCCL_CONFIG_UNDEF_INT);
  return value == NCCL_CONFIG_UNDEF_INT ? 1 : static_cast<std::uint32_t>(value);
}

}  // namespace

Result<CommOptions> ReadConfig(const ncclConfig_t* config, const CommOptions& inherited) {
  if (!config) return inherited;
  RINGLET_TRY(CheckHead(*config, "config", "NCCL_CONFIG_INITIALIZER",
                        offsetof(ncclConfig_t, blocking) + sizeof(int)));
  RINGLET_TRY(CheckFields(*config, kFields));
  RINGLET_TRY(CheckBounds(*config, NCCL_VERSION(2, 17, 0)));
  CommOptions options;
  options.blocking = ValueOf(*config, kFields[0]) != 0;  // true if unset
  if (const char* name = TextOf(*config, offsetof(ncclConfig_t, commName), kSinceName))
    options.name = std::make_shared<const std::string>(
        Printable({name, ::strnlen(name, kNameBytesMax)}, kNameBytesMax));
  options.contexts = CountOf(*config, offsetof(ncclConfig_t, numRmaCtx), NCCL_VERSION(2, 29, 0));
  options.signals = CountOf(*config, offsetof(ncclConfig_t, numRmaSig), NCCL_VERSION(2, 31, 0));
  return options;
}

std::vector<std::string> WithoutEffect(const ncclConfig_t* config) {
  std::vector<std::string> sentences;
  if (!config) return sentences;
  for (const Field& field : kFields)
    if (field.why_not && ValueOf(*config, field) != NCCL_CONFIG_UNDEF_INT)
      sentences.push_back(
          fmt::format("ncclConfig_t::{} is ignored: {}", field.name, field.why_not));
  if (TextOf(*config, offsetof(ncclConfig_t, netName), kSinceNetName))
    sentences.emplace_back("ncclConfig_t::netName is ignored: RINGLET_NET chooses the network");
  return sentences;
}

Result<CallOptions> ReadCallConfig(const ncclCollConfig_t* config) {
  CallOptions options;
  if (!config) return options;
  constexpr std::size_t kSizeMin =
      offsetof(ncclCollConfig_t, userProfilerTag) + sizeof(std::uint64_t);
  RINGLET_TRY(CheckHead(*config, "config", "NCCL_COLLCONFIG_INITIALIZER", kSizeMin));
  RINGLET_TRY(CheckFields(*config, kCallFields));
  RINGLET_TRY(CheckBounds(*config, 0));
  options.begins =
      ValueAt<cudaEvent_t>(*config, offsetof(ncclCollConfig_t, launchCompletionEvent), 0, nullptr);
  if (config->algSelection) {
    constexpr std::size_t kBytesMax = 1024;
    const std::size_t bytes = ::strnlen(config->algSelection, kBytesMax);
    if (bytes == kBytesMax)
      return Refused(fmt::format("config->algSelection has {} bytes or more", kBytesMax));
    options.algorithms.assign(config->algSelection, bytes);
  }
  options.forces = config->forceAlgSelection != 0;  // true if unset
  return options;
}

Result<Encryption> ReadEncryption(const ncclEncryptionConfig_t& config) {
  RINGLET_TRY(CheckHead(config, "config", "NCCL_ENCRYPTION_CONFIG_INITIALIZER",
                        sizeof(ncclEncryptionConfig_t)));
  if (config.mode == NCCL_ENCRYPTION_MODE_NONE) return Encryption{};
  if (config.mode != NCCL_ENCRYPTION_MODE_PSK)
    return Refused(
        fmt::format("config->mode is {}, not NCCL_ENCRYPTION_MODE_NONE or _PSK", config.mode));
  RINGLET_TRY(RequireNonNull(config.psk, "config->psk"));
  const std::size_t bytes = ::strnlen(config.psk, kSettingTextBytesMax + 1);
  if (bytes < kKeyBytesMin || bytes > kSettingTextBytesMax)
    return Refused(fmt::format("config->psk has {} bytes, not {} to {}", bytes, kKeyBytesMin,
                               kSettingTextBytesMax));
  return Encryption{.wanted = true, .key = std::string(config.psk, bytes)};
}

Status CheckSimInfo(const ncclSimInfo_t* info) {
  RINGLET_TRY(RequireNonNull(info, "simInfo"));
  if (info->magic != kSimInfoMagic)
    return Refused(fmt::format(
        "simInfo->magic is {:#x}: it was not made with NCCL_SIM_INFO_INITIALIZER", info->magic));
  if (info->size < sizeof(ncclSimInfo_t))
    return Refused(fmt::format("simInfo->size is {}, below the {} bytes of the oldest version",
                               info->size, sizeof(ncclSimInfo_t)));
  return Ok();
}

}  // namespace ringlet::c_api
