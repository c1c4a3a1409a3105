#include "topology/view/devices.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

struct Key {
  std::uint64_t host, device;
  bool known;  // `device` is an address, not a number
  std::optional<std::uint32_t> half;
  bool operator==(const Key&) const = default;
};

struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    constexpr std::uint64_t kMix = 0x9e37'79b9'7f4a'7c15;  // 2^64 / golden ratio
    std::uint64_t mixed = key.host * kMix + key.device;
    mixed = (mixed ^ mixed >> 29) * kMix + key.half.value_or(key.known ? 2 : 3);
    return static_cast<std::size_t>((mixed ^ mixed >> 32) * kMix);
  }
};

Key KeyOf(const RankDevice& device) {
  const bool known = device.bus.has_value();
  return {device.host, known ? device.bus->value : device.number, known, device.half};
}

std::string TextOf(const RankDevice& device) {
  const std::string part = device.half ? fmt::format("half {} of ", *device.half) : "";
  if (!device.bus) return fmt::format("{}device {}", part, device.number);
  return fmt::format("{}GPU {}", part, ToString(*device.bus));
}

}  // namespace

Status CheckDevices(std::span<const RankDevice> devices, bool may_share) {
  if (may_share) return Ok();
  std::unordered_map<Key, const RankDevice*, HashOfKey> seen;
  seen.reserve(devices.size());
  for (const RankDevice& device : devices) {
    const auto [it, fresh] = seen.emplace(KeyOf(device), &device);
    if (fresh) continue;
    return Error{
        Code::kInvalidArgument,
        fmt::format("ranks {} and {} are both on {} of host {}: give each rank a device of "
                    "its own, or set RINGLET_MULTI_RANK_GPU_ENABLE=1",
                    Index(it->second->rank), Index(device.rank), TextOf(device),
                    Quoted(device.host_name))};
  }
  return Ok();
}

}  // namespace ringlet::topology
