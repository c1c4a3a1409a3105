#include "topology/devices.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "base/text.hpp"

namespace ringlet::topology {
namespace {

struct Key {
  std::uint64_t host, bus;
  std::optional<std::uint32_t> half;
  bool operator==(const Key&) const = default;
};

struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    constexpr std::uint64_t kMix = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio
    std::uint64_t mixed = key.host * kMix + key.bus;
    mixed = (mixed ^ mixed >> 29) * kMix + key.half.value_or(2);
    return static_cast<std::size_t>((mixed ^ mixed >> 32) * kMix);
  }
};

}  // namespace

Status CheckDevices(std::span<const RankDevice> devices, bool may_share) {
  if (may_share) return Ok();
  std::unordered_map<Key, const RankDevice*, HashOfKey> seen;
  seen.reserve(devices.size());
  for (const RankDevice& device : devices) {
    const auto [it, fresh] = seen.emplace(Key{device.host, device.bus.value, device.half}, &device);
    if (fresh) continue;
    const std::string part = device.half ? fmt::format("half {} of ", *device.half) : "";
    return Error{Code::kInvalidArgument,
                 fmt::format("ranks {} and {} are both on {}GPU {} of host {}: give each rank a "
                             "device of its own, or set NCCL_MULTI_RANK_GPU_ENABLE=1",
                             Index(it->second->rank), Index(device.rank), part,
                             ToString(device.bus), Quoted(device.host_name))};
  }
  return Ok();
}

}  // namespace ringlet::topology
