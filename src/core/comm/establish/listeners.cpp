#include "comm/establish/listeners.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <utility>

#include "comm/establish/near_nics.hpp"
#include "os/process/random.hpp"

namespace ringlet::comm {
namespace {

Result<transport::ListenerSet> OpenEndpoint(Process& process, NicChoice nics,
                                            const ServiceKey& key) {
  RINGLET_TRY_ASSIGN(const Secret seed, os::SecureRandom());
  return process.services().endpoints().Open({.interfaces = std::move(nics.addresses),
                                              .preferred = nics.preferred,
                                              .seed = seed,
                                              .unix_listener = key.kind == ServiceKey::Kind::kData},
                                             key);
}

// Only ranks that hold the id know this address. It does not include the hash of the host: abstract
// names of UNIX sockets belong to a network namespace, which ranks must share to connect.
Address NodeLeaderAddress(const Invitation& invitation) {
  const Secret name = KeyedHash(invitation.credentials.secret, {AsView("node leader of a host")});
  std::string text = "ringlet-";
  for (std::size_t i = 0; i < 16; ++i)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(name[i]));
  return Address::Unix(std::move(text));
}

bool HasNodeLeaders(const Settings& settings, const Config& config) {
  return settings.node_leader && config.size > 1 && settings.bootstrap == BootstrapShape::kTree;
}

}  // namespace

Result<transport::ListenerSet> OpenDataListener(Process& process, const Credentials& credentials,
                                                const LocalHost& local_host, std::uint32_t size) {
  RINGLET_TRY_ASSIGN(const auto usable, process.host_reader().ReachableInterfaces(size == 1));
  return OpenEndpoint(process, NearNics(usable, local_host.view, local_host.numa),
                      {credentials.magic, ServiceKey::Kind::kData});
}

Result<Listeners> OpenListeners(Process& process, const Invitation& invitation,
                                const Config& config, const LocalHost& local_host,
                                std::shared_ptr<os::Listener> node_leader) {
  Listeners listeners;
  RINGLET_TRY_ASSIGN(auto addresses, process.host_reader().ReachableAddresses(config.size == 1));
  const Credentials& credentials = invitation.credentials;
  RINGLET_TRY_ASSIGN(listeners.control,
                     OpenEndpoint(process, {std::move(addresses)},
                                  {credentials.magic, ServiceKey::Kind::kControl}));
  RINGLET_TRY_ASSIGN(listeners.data,
                     OpenDataListener(process, credentials, local_host, config.size));
  OpenNodeLeaderListener(process, invitation, config, listeners, std::move(node_leader));
  return listeners;
}

void OpenNodeLeaderListener(const Process& process, const Invitation& invitation,
                            const Config& config, Listeners& listeners,
                            std::shared_ptr<os::Listener> taken) {
  if (!HasNodeLeaders(process.settings(), config)) return;
  // If the address is taken, this rank has a node leader. If it cannot be opened for another
  // reason, each rank checks in by itself.
  auto listener =
      taken ? Result<os::Listener>(std::move(*taken)) : os::Listen(NodeLeaderAddress(invitation));
  listeners.speaks = listener.ok();
  if (listener.ok()) listeners.control.listeners.push_back(std::move(*listener));
  if (listeners.speaks || listener.error().os_errno == EADDRINUSE)
    listeners.node_leader = NodeLeaderAddress(invitation);
}

std::shared_ptr<os::Listener> BecomeNodeLeader(const Process& process, const Config& config) {
  const auto invitation = rendezvous::Decode(config.id);
  if (!invitation.ok() || !HasNodeLeaders(process.settings(), config)) return nullptr;
  auto listener = os::Listen(NodeLeaderAddress(*invitation));
  return listener.ok() ? std::make_shared<os::Listener>(*std::move(listener)) : nullptr;
}

}  // namespace ringlet::comm
