#include "cxx/options.hpp"

#include <fmt/format.h>

namespace ringlet::cxx {
namespace {

using std::chrono::milliseconds;

// These options replace settings and have their bounds.
constexpr milliseconds kTimeoutMin(100);
constexpr milliseconds kTimeoutMax = std::chrono::hours(7 * 24);

Status CheckTimeout(const char* name, std::optional<milliseconds> timeout) {
  if (!timeout || (*timeout >= kTimeoutMin && *timeout <= kTimeoutMax)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("the option {} is {} ms, not between {} and {} ms", name,
                           timeout->count(), kTimeoutMin.count(), kTimeoutMax.count())};
}

}  // namespace

Result<comm::Config> ConfigOf(const comm::Process& process, const UniqueId& id, Rank rank,
                              std::uint32_t size, const CommunicatorOptions& options) {
  RINGLET_TRY(CheckTimeout("init_timeout", options.init_timeout));
  RINGLET_TRY(CheckTimeout("timeout", options.timeout));
  comm::Config config;
  config.id = id;
  config.more_ids = options.more_ids;
  config.rank = Index(rank);
  config.size = size;
  config.device = options.device.value_or(process.settings().local_rank.value_or(0));
  config.names_device = options.device.has_value();
  config.init_timeout = options.init_timeout;
  config.timeout = options.timeout;
  return config;
}

}  // namespace ringlet::cxx
