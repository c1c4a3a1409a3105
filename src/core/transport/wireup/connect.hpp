// Connect: chooses a transport for each peer from the roster, runs the wireup and creates links.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "os/driver/socket_driver.hpp"
#include "transport/inproc/inproc.hpp"
#include "transport/link/transport.hpp"
#include "transport/ofi/ofi_link.hpp"
#include "transport/tcp/tcp_link.hpp"
#include "transport/wireup/links.hpp"
#include "transport/wireup/listener_set.hpp"
#include "transport/wireup/wireup.hpp"

namespace ringlet::transport {

struct ConnectOptions {
  LinkChoice choice = LinkChoice::kAuto;       ///< the same on all ranks
  std::size_t pipe_bytes = kPipeBytesDefault;  ///< per direction; see IsPipeSize
  LinkChoice network = LinkChoice::kTcp;       ///< kTcp or kOfi; the same on all ranks
  TcpOptions tcp = {};
  std::string ofi_provider = {};  ///< of libfabric; empty for its first choice
  ofi::LinkOptions ofi = {};
  std::uint32_t strands = 1;    ///< connections per TCP link, to kStrandsMax; the same on all ranks
  std::string congestion = {};  ///< for TCP links, such as "cubic"; empty for the kernel's default
  DoorbellWaiterOptions waiter = {};
  bool prefault = true;  ///< touch shared pipes now rather than with the first messages
  WireupLimits wireup = {};
};

struct ConnectRequest {
  Credentials credentials;
  Secret nonce_seed{};  ///< fresh from the system's random source
  Neighbour self;
  std::vector<Neighbour> peers;  ///< the peers to link, each rank once
  /// Ranks that may need links later. Only their number and place matter now. May contain `peers`
  /// and `self`.
  std::vector<Neighbour> later = {};
  Instant deadline{};  ///< of os::SocketDriver::Now
  ConnectOptions options = {};
};

/// Objects that Connect uses but does not own. They outlive the call.
struct ConnectTools {
  os::SocketDriver& driver;  ///< another thread runs it
  InprocExchange& inproc;    ///< shared by the process
  std::stop_token abort = {};
  std::function<void(const Note&)> note = {};  ///< called on the driver's thread
};

/// Creates a link to every peer of `request`. Blocks the calling thread; another may use the links.
/// All named ranks must call it. The lower rank of a pair dials the higher.
///
/// Errors  kInvalidArgument  a peer occurs twice, or this rank is among its peers
///         kUnsupported      a forced kind cannot reach a peer, or a link needs the missing
///                           libfabric
///         kTimeout          names every missing peer and the reason
///         kAborted          `abort` was requested
///         kPeerLost, kProtocol, kSystem  see the message
Result<std::unique_ptr<Links>> Connect(ConnectRequest request, ListenerSet endpoint,
                                       const ConnectTools& tools);

class Connector;

/// Adds links to those of a rank. Both ranks of a pair must do it, and the first waits. The lists
/// of the peers may differ, because each pair meets by itself and has its link at once.
class Extension {
 public:
  /// Only AwaitPeers may run outside the thread of the rank. \param links  outlives this
  /// Errors  as Connect, before any attempt
  static Result<std::unique_ptr<Extension>> Begin(ConnectRequest request, Links& links,
                                                  const ConnectTools& tools);
  ~Extension();

  /// Returns true if there are peers outside this process, so that AwaitPeers has work to do.
  bool meets() const;
  /// Blocks until this rank has met its peers of other processes. Any thread. Errors  as Connect
  Status AwaitPeers();
  /// Creates the links to the peers that have been met. Returns the ranks that are still missing.
  /// Waiter::Wake of the links signals that another call may succeed.
  Result<std::vector<Rank>> Take();

 private:
  Extension(std::unique_ptr<Connector> connector, Links& links);
  std::unique_ptr<Connector> connector_;
  Links& links_;
};

}  // namespace ringlet::transport
