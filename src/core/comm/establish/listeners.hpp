// The addresses at which the other ranks of a communicator connect to this one.
#pragma once
#include <memory>
#include <optional>

#include "comm/establish/local_host.hpp"
#include "comm/process/config.hpp"
#include "os/net/listener.hpp"
#include "rendezvous/invitation.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::comm {

using rendezvous::Invitation;

/// The listeners of a rank. Opened before check-in, so that no rank dials too early.
struct Listeners {
  transport::ListenerSet control;
  transport::ListenerSet data;
  /// The address of this host's node leader. `speaks` is true if this rank is the leader: the first
  /// rank of a host to open the address.
  std::optional<Address> node_leader = {};
  bool speaks = false;
};
/// \param node_leader  from BecomeNodeLeader, or null
Result<Listeners> OpenListeners(Process& process, const Invitation& invitation,
                                const Config& config, const LocalHost& local_host,
                                std::shared_ptr<os::Listener> node_leader = nullptr);
Result<transport::ListenerSet> OpenDataListener(Process& process, const Credentials& credentials,
                                                const LocalHost& local_host, std::uint32_t size);

/// Fills `node_leader` and `speaks`, and adds the listener, if ranks of a host check in together.
/// \param taken  from BecomeNodeLeader, or null
void OpenNodeLeaderListener(const Process& process, const Invitation& invitation,
                            const Config& config, Listeners& listeners,
                            std::shared_ptr<os::Listener> taken = nullptr);

/// Makes a rank in the root's process its host's node leader, if called before other ranks know
/// `config.id`. Other ranks then reach both by one connection. On other hosts, the first rank to
/// arrive is the leader. Null if hosts do not have leaders, or if the address is taken. The rank's
/// join reports the latter.
std::shared_ptr<os::Listener> BecomeNodeLeader(const Process& process, const Config& config);

}  // namespace ringlet::comm
