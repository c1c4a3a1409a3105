// The options of a caller for a communicator. The communicator keeps them.
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
  /// Ids of further roots in other processes. Each root serves a share of the ranks (see
  /// bootstrap::RanksOfRoot). The same list on all ranks; with `id` at most `size`.
  std::vector<UniqueId> more_ids = {};
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  std::uint32_t device = 0;  ///< the caller's name of the rank's device
  /// True if the caller chose `device`. The rank then runs near it, and no other rank of the host
  /// may name it, unless RINGLET_MULTI_RANK_GPU_ENABLE is 1.
  bool names_device = false;
  /// The caller's CUDA number of the device, if different. CUDA counts the devices that the process
  /// sees.
  std::optional<std::uint32_t> cuda_device = {};
  /// The device of the null stream of operations, as ringletStreamSetDevice counts devices.
  int stream_device = 0;
  std::optional<std::chrono::milliseconds> init_timeout = {};  ///< else RINGLET_INIT_TIMEOUT
  std::optional<std::chrono::milliseconds> timeout =
      {};              ///< of one operation, else RINGLET_TIMEOUT
  bool grows = false;  ///< this rank was in the communicator that `id` grows
  /// True if the caller expects all ranks on one host. Devices matter between hosts, so they are
  /// then read only if this is wrong, which costs one more round of the control network.
  bool expects_one_host = false;
};

/// Returns the time limit for forming a communicator: the caller's, else that of the settings.
inline std::chrono::milliseconds InitTimeout(const Process& process, const Config& config) {
  return config.init_timeout.value_or(process.settings().init_timeout);
}

/// The origin of a communicator, for code that makes links or children.
struct Origin {
  std::shared_ptr<Process> process;
  Config config;            ///< rank and size are those of this communicator
  Credentials credentials;  ///< of its data plane; the magic is its public name
  /// Of the communicator that was reformed first, if this one was reformed. Its ranks may have
  /// different parents, and derive `credentials` from these.
  std::optional<Credentials> lineage = {};
};

}  // namespace ringlet::comm
