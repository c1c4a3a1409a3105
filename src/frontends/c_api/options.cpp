#include "frontends/c_api/options.hpp"

#include <fmt/format.h>

#include <climits>
#include <cstddef>
#include <cstring>

#include "frontends/c_api/guard.hpp"

namespace ringlet::c_api {
namespace {

constexpr unsigned kConfigMagic = 0xcafebeef;
constexpr unsigned kSimInfoMagic = 0x74685283;

struct Field {
  const char* name;
  std::size_t offset;
  int min, max;
};
#define RINGLET_FIELD(name, min, max) \
  { #name, offsetof(ncclConfig_t, name), min, max }
constexpr Field kFields[] = {
    RINGLET_FIELD(blocking, 0, 1),
    RINGLET_FIELD(cgaClusterSize, 0, INT_MAX),
    RINGLET_FIELD(minCTAs, 1, INT_MAX),
    RINGLET_FIELD(maxCTAs, 1, INT_MAX),
    RINGLET_FIELD(splitShare, 0, 1),
    RINGLET_FIELD(collnetEnable, 0, 1),
    RINGLET_FIELD(CTAPolicy, 0, NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO),
    RINGLET_FIELD(shrinkShare, 0, 1),
    RINGLET_FIELD(nvlsCTAs, 1, INT_MAX),
    RINGLET_FIELD(nChannelsPerNetPeer, 1, INT_MAX),
    RINGLET_FIELD(nvlinkCentricSched, 0, 1),
};
#undef RINGLET_FIELD

Error Refused(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

/// The caller's struct may be shorter than ours: fields beyond it are unset.
int ValueOf(const ncclConfig_t& config, const Field& field) {
  if (field.offset + sizeof(int) > config.size) return NCCL_CONFIG_UNDEF_INT;
  int value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(&config) + field.offset, sizeof value);
  return value;
}

}  // namespace

Status CheckConfig(const ncclConfig_t* config) {
  if (!config) return Ok();
  if (config->magic != kConfigMagic)
    return Refused(
        fmt::format("config->magic is {:#x}: the config was not made with NCCL_CONFIG_INITIALIZER",
                    config->magic));
  constexpr std::size_t kLeast = offsetof(ncclConfig_t, blocking) + sizeof(int);
  if (config->size < kLeast)
    return Refused(fmt::format("config->size is {}, below the {} bytes of the oldest version",
                               config->size, kLeast));
  for (const Field& field : kFields) {
    const int value = ValueOf(*config, field);
    if (value == NCCL_CONFIG_UNDEF_INT || (value >= field.min && value <= field.max)) continue;
    return Refused(field.max == INT_MAX
                       ? fmt::format("config->{} is {}, below {}", field.name, value, field.min)
                       : fmt::format("config->{} is {}, not between {} and {}", field.name, value,
                                     field.min, field.max));
  }
  return Ok();
}

bool Blocks(const ncclConfig_t* config, bool parent_blocks) {
  return config ? config->blocking != 0 : parent_blocks;  // also where it is not set
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
