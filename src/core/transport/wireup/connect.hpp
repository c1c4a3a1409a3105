// From the roster's word to links: who is reached how, and the wireup that makes it so.
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
  std::size_t pipe_bytes = kPipeBytesDefault;  ///< of each direction; see IsPipeSize
  LinkChoice network = LinkChoice::kTcp;       ///< kTcp or kOfi; the same on all ranks
  TcpOptions tcp = {};
  std::string ofi_provider = {};  ///< of libfabric; empty: its first choice
  ofi::LinkOptions ofi = {};
  std::uint32_t strands =
      1;  ///< connections of each TCP link, to kStrandsMax; the same on all ranks
  std::string congestion = {};  ///< of TCP links, such as "cubic"; empty: the kernel's default
  DoorbellWaiterOptions waiter = {};
  bool prefault = true;  ///< bring shared pipes into memory now rather than with the first messages
  WireupLimits wireup = {};
};

struct ConnectRequest {
  Credentials credentials;
  Secret nonce_seed{};  ///< fresh from the system's random source
  Neighbour self;
  std::vector<Neighbour> peers;  ///< each rank once; the links to make
  /// Ranks to which links may be wanted later; only their number and place matter now. May contain
  /// `peers` and `self`.
  std::vector<Neighbour> later = {};
  Instant deadline{};  ///< of os::SocketDriver::Now
  ConnectOptions options = {};
};

/// The parts that Connect uses and does not own; all outlive the call.
struct ConnectTools {
  os::SocketDriver& driver;  ///< run by another thread
  InprocExchange& inproc;    ///< the process's
  std::stop_token abort = {};
  std::function<void(const Note&)> note = {};  ///< called on the driver's thread
};

/// Makes a link to every peer of `request`. Blocks the calling thread, which need not be the one
/// that uses the links. All ranks named must call it; of a pair, the lower rank dials the higher.
///
/// Errors  kInvalidArgument  a peer twice, or this rank among its peers
///         kUnsupported      a forced kind cannot reach a peer; names rank and host. Or there is no
///                           libfabric where links over it are wanted
///         kTimeout          names every missing peer and why it is missing
///         kAborted          `abort` was requested
///         kPeerLost, kProtocol, kSystem  as they say
Result<std::unique_ptr<Links>> Connect(ConnectRequest request, ListenerSet endpoint,
                                       const ConnectTools& tools);

class Connector;

/// More links for a rank that has some. Both ranks of a pair must do it; the first of them waits.
/// The peers' lists need not be the same: each pair is met by itself, and has its link at once.
class Extension {
 public:
  /// \param links  outlives this. Calls on it, and this, belong to its rank's thread, but for Meet.
  /// Errors  as Connect, before anything was tried
  static Result<std::unique_ptr<Extension>> Begin(ConnectRequest request, Links& links,
                                                  const ConnectTools& tools);
  ~Extension();

  /// Whether Meet has anything to do: there are peers outside of this process.
  bool meets() const;
  /// Blocks until those of other processes have come. On any thread. Errors  as Connect
  Status Meet();
  /// Makes the links to those who have come by now. The ranks that are still missing. Waiter::Wake
  /// of the links tells when it pays to call again.
  Result<std::vector<Rank>> Take();

 private:
  Extension(std::unique_ptr<Connector> connector, Links& links);
  std::unique_ptr<Connector> connector_;
  Links& links_;
};

}  // namespace ringlet::transport
