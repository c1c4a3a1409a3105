// Everything that a user can set through the environment, as one value.
//
// The defaults stand here; names, bounds and help stand in setting_table.hpp; docs/settings.md and
// `ringlet env` are made from both. RINGLET_X wins over NCCL_X, and an empty value counts as unset.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env_map.hpp"
#include "base/log.hpp"
#include "ringlet/status.hpp"

namespace ringlet {

/// Text that is never printed, logged or compared aloud.
struct SecretText {
  std::string text;
  bool operator==(const SecretText&) const = default;
};

/// How ranks are linked. kAuto: the fastest kind that a pair of ranks can use.
enum class LinkChoice : std::uint8_t { kAuto, kInproc, kShm, kTcp };

/// The shape of the control network.
enum class BootstrapShape : std::uint8_t { kTree, kRing };

/// Which internet addresses are used.
enum class SocketFamily : std::uint8_t { kAny, kIpv4, kIpv6 };

/// Where the value of a setting comes from.
enum class SettingOrigin : std::uint8_t { kDefault, kRinglet, kNccl };

struct Settings {
  std::chrono::milliseconds init_timeout{300'000};
  std::chrono::milliseconds timeout{1'800'000};
  std::chrono::milliseconds handshake_timeout{10'000};

  std::string comm_id;        ///< empty: none
  SecretText secret;          ///< empty: none
  std::string socket_ifname;  ///< empty: chosen; see os::UsableAddresses
  SocketFamily socket_family = SocketFamily::kAny;
  std::string host_id;  ///< empty: host name and boot id

  std::string topo_file;                  ///< empty: the machine is looked at
  std::string topo_dump_file;             ///< empty: nothing is written
  std::uint64_t topo_dump_file_rank = 0;  ///< the rank that writes it
  std::uint64_t ignore_cpu_affinity = 0;  ///< 1: threads may leave the CPUs that the caller has

  BootstrapShape bootstrap = BootstrapShape::kTree;
  std::uint64_t tree_arity = 8;
  LinkChoice links = LinkChoice::kAuto;
  std::uint64_t pipe_bytes = 262'144;

  /// NCCL's default is NONE. Ours is WARN, because nothing may go wrong silently.
  LogLevel debug = LogLevel::kWarn;
  SubsystemMask debug_subsystems;
  std::string debug_file;  ///< empty: standard output

  SecretText unique_id;  ///< contains the communicator's secret
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world_size;
  std::optional<std::uint32_t> local_rank;

  /// One for each row of kSettings; empty when nothing was parsed: all are defaults.
  std::vector<SettingOrigin> origins;
  /// Sentences for the log, such as an unknown RINGLET_ variable with the nearest known name.
  std::vector<std::string> warnings;

  LogFilter log_filter() const { return {debug, debug_subsystems}; }
};

/// Reads every setting out of `env`. Pure: the environment is read once, by os::ReadEnvironment.
/// Errors  kInvalidArgument  names the variable, its value (never a secret's) and what is allowed.
Result<Settings> ParseSettings(const EnvMap& env);

inline constexpr std::size_t kSettingTextBytesMax = 4096;

}  // namespace ringlet
