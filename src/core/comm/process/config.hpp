// The options of a caller for a communicator, which the communicator keeps.
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/wire/handshake.hpp"
#include "comm/process/process.hpp"
#include "ringlet/unique_id.hpp"

namespace ringlet::comm {

struct Config {
  UniqueId id = {};
  /// Of further roots, made by other processes: each root then serves a share of the ranks (see
  /// bootstrap::RanksOfRoot). The same list on all ranks; with `id` at most `size`.
  std::vector<UniqueId> more_ids = {};
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t device = 0;  ///< the caller's name of the rank's device
  /// The caller chose `device`, and did not only leave it at what it is: the rank lives near it,
  /// and no other rank of the host may name it, unless RINGLET_MULTI_RANK_GPU_ENABLE is 1.
  bool names_device = false;
  /// The number that the caller's CUDA has for it, where that is another: CUDA counts the devices
  /// that the process sees.
  std::optional<std::uint32_t> cuda_device = {};
  std::optional<std::chrono::milliseconds> init_timeout = {};  ///< else RINGLET_INIT_TIMEOUT
  std::optional<std::chrono::milliseconds> timeout =
      {};              ///< of one operation, else RINGLET_TIMEOUT
  bool grows = false;  ///< this rank was in the communicator that `id` grows
  /// The caller thinks that all ranks are on one host: devices, which matter between hosts, are
  /// then looked at only if they are not, which costs one more round of the control network.
  bool expects_one_host = false;
};

/// The time limit for forming a communicator: the caller's, else the one of the settings.
inline std::chrono::milliseconds InitTimeout(const Process& process, const Config& config) {
  return config.init_timeout.value_or(process.settings().init_timeout);
}

/// The origin of a communicator: the parts that make links, and children.
struct Origin {
  std::shared_ptr<Process> process;
  Config config;            ///< rank and size are those of this communicator
  Credentials credentials;  ///< of its data plane; the magic is its public name
};

}  // namespace ringlet::comm
