#include "comm/establish/root.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/settings/setting_table.hpp"
#include "bootstrap/root.hpp"
#include "comm/establish/establish.hpp"
#include "os/net/resolve.hpp"
#include "os/process/random.hpp"
#include "rendezvous/invitation.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::comm {

namespace {

bool IsLoopback(const std::vector<Address>& root) {
  return std::ranges::all_of(root, [](const Address& one) { return one.IsLoopback(); });
}

// Returns possible reasons why ranks do not reach the root. May be empty.
std::string HintOf(Process& process, const std::vector<Address>& root) {
  std::string hint;
  if (IsLoopback(root))
    hint += fmt::format(
        "; the root listens at {}, a loopback address: ranks on other hosts cannot "
        "reach it (use another name or NIC, or mend /etc/hosts)",
        ToString(root.front()));
  if (process.driver().shortages() > 0)
    hint += "; the process of the root was out of file descriptors (raise ulimit -n)";
  return hint;
}

}  // namespace

void WarnOfLoopback(Process& process, const Address& root) {
  const Settings& settings = process.settings();
  const std::string_view name = settings.comm_id;
  const bool meant = name.starts_with("127.") || name.starts_with("[::1]") ||
                     name.starts_with("::1") || name.starts_with("localhost");
  if (!root.IsLoopback() || meant) return;
  process.logger().WarnOnce(
      fmt::format("{}={} is {} here, a loopback address: ranks on other hosts cannot reach this "
                  "root. Use another name or an address, or mend /etc/hosts",
                  VariableOf(settings, "COMM_ID"), name, ToString(root)));
}

Status HostRoot(const std::shared_ptr<Process>& process, const rendezvous::Invitation& invitation,
                transport::ListenerSet endpoint) {
  bootstrap::RootConfig config;
  config.credentials = invitation.credentials;
  RINGLET_TRY_ASSIGN(config.nonce_seed, os::SecureRandom());
  config.host = process->host().name;
  config.pid = process->host().pid;
  config.handshake_timeout = process->settings().handshake_timeout;
  config.silence_max = process->settings().silence_max;
  config.lines.encrypt = process->settings().encrypt;
  config.half_open_max = process->facts().HalfOpenMax(config.half_open_max);
  config.is_stopped = process->facts().is_stopped();
  // New ranks may arrive long after the members have failed, because their time limits may differ.
  config.refuses_long = invitation.parent_size > 0;
  config.hint = [process = process.get(), at = invitation.roots] { return HintOf(*process, at); };
  const auto root = std::make_shared<bootstrap::Root>(std::move(config));
  os::Hosted hosted{.machine = root,
                    .listeners = std::move(endpoint.listeners),
                    .entrance = std::move(endpoint.entrance),
                    .greeting = kGreeting};
  hosted.note = [process = process.get()](const Note& note) {
    process->logger().Log(note.level, Subsystem::kBootstrap, std::nullopt, note.text);
  };
  process->roots().Host(root, std::move(hosted));
  return Ok();
}

namespace {

Result<UniqueId> UniqueIdFromCommId(const Process& process) {
  const Settings& settings = process.settings();
  const auto address = os::Resolve(settings.comm_id);
  if (!address.ok())
    return Error{address.error().code,
                 VariableOf(settings, "COMM_ID") + ": " + address.error().message};
  return rendezvous::Encode(
      rendezvous::FromCommId(settings.comm_id, *address, settings.secret.text));
}

/// Returns the id from the launcher.
Result<UniqueId> IdOfLauncher(const Settings& settings) {
  auto id = rendezvous::FromText(settings.unique_id.text);
  if (id.ok() && rendezvous::Decode(*id).ok()) return id;
  return Error{Code::kInvalidArgument,
               "RINGLET_UNIQUE_ID holds no unique id; unset it, or start the program with ringlet "
               "run, which sets it"};
}

/// Draws credentials for `invitation` and serves its root in this process. The root needs no
/// network, because one rank of this process may be all ranks and calls it over a UNIX socket.
/// Ranks of a larger job notice the missing network when they join.
Result<UniqueId> MakeId(const std::shared_ptr<Process>& process,
                        rendezvous::Invitation invitation) {
  RINGLET_TRY_ASSIGN(invitation.credentials.secret, os::SecureRandom());
  RINGLET_TRY_ASSIGN(const Secret seed, os::SecureRandom());
  invitation.credentials.magic = Reader(seed).U64();
  RINGLET_TRY_ASSIGN(auto addresses, process->host_reader().ReachableAddresses(true));
  RINGLET_TRY_ASSIGN(const Secret endpoint_seed, os::SecureRandom());
  RINGLET_TRY_ASSIGN(
      auto endpoint,
      process->services().endpoints().Open(
          {.interfaces = std::move(addresses), .seed = endpoint_seed, .unix_listener = false},
          {invitation.credentials.magic, ServiceKey::Kind::kRoot}));
  invitation.roots = endpoint.tcp;
  RINGLET_TRY(HostRoot(process, invitation, std::move(endpoint)));
  return rendezvous::Encode(invitation);
}

}  // namespace

Result<UniqueId> CreateUniqueId(const std::shared_ptr<Process>& process,
                                std::uint32_t parent_size) {
  if (!process->settings().comm_id.empty()) {
    if (parent_size > 0)
      return Error{Code::kUnsupported,
                   fmt::format("a communicator cannot grow where {} fixes the address of its root",
                               VariableOf(process->settings(), "COMM_ID"))};
    if (process->settings().secret.text.empty())
      process->logger().WarnOnce(
          fmt::format("RINGLET_SECRET is not set: any process that can reach the address of {} can "
                      "join; set it to the same secret on all ranks",
                      VariableOf(process->settings(), "COMM_ID")));
    return UniqueIdFromCommId(*process);
  }
  return MakeId(process, {.parent_size = parent_size});
}

Result<UniqueId> NextUniqueId(const std::shared_ptr<Process>& process) {
  const Settings& settings = process->settings();
  const bool fixed = !settings.comm_id.empty();
  if (settings.unique_id.text.empty() || fixed || !process->roots().TakeGivenId())
    return CreateUniqueId(process);
  RINGLET_TRY_ASSIGN(const UniqueId given, IdOfLauncher(settings));
  if (!settings.world_size) return given;
  RINGLET_TRY_ASSIGN(const rendezvous::Invitation job, rendezvous::Decode(given));
  return MakeId(process, {.job = job.credentials.magic});
}

Status UseIdOfJob(Process& process, const Config& config, rendezvous::Invitation& invitation) {
  const Settings& settings = process.settings();
  if (!invitation.job || settings.unique_id.text.empty()) return Ok();
  if (!config.more_ids.empty() || !settings.world_size || config.size % *settings.world_size != 0)
    return Ok();
  RINGLET_TRY_ASSIGN(const UniqueId given, IdOfLauncher(settings));
  RINGLET_TRY_ASSIGN(rendezvous::Invitation job, rendezvous::Decode(given));
  if (job.credentials.magic != *invitation.job) return Ok();
  // With several ranks in each process, all of them pass the same id.
  if (config.size > *settings.world_size || process.roots().ClaimJobId())
    invitation = std::move(job);
  return Ok();
}

}  // namespace ringlet::comm
