// The side of a host that answers probes: echoes small messages, counts many bytes, acknowledges
// datagrams. A thread of its own, so that hosts can probe each other at once.
#pragma once
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/wire/handshake.hpp"
#include "os/fs/fd.hpp"
#include "os/net/listener.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// A connection begins with the token, which only the hosts of one doctor know, and one byte.
enum class ProbeKind : std::uint8_t {
  kEcho = 'e',   ///< each message of kEchoBytes comes back
  kCount = 'c',  ///< bytes are taken in for kCountTime, then come ProbeCount
};
inline constexpr std::size_t kEchoBytes = 8;
inline constexpr std::chrono::milliseconds kCountTime(150);
/// A datagram begins with the token; the answer is kMarkBytes of it and the datagram's length.
inline constexpr std::size_t kMarkBytes = 8;

struct ProbeCount {
  std::uint64_t bytes = 0, ns = 0;
};

class ProbeServer {
 public:
  /// Listens at each address, at any free port; at the same one for datagrams if it is free.
  /// Errors  kSystem  at none of them; the sentence says why at the last
  static Result<std::unique_ptr<ProbeServer>> Start(const std::vector<Address>& addresses,
                                                    const Secret& token);
  ~ProbeServer() = default;
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  /// In the order of `addresses`, those left out at which it could not listen.
  std::vector<Address> endpoints() const;

 private:
  ProbeServer(std::vector<os::Listener> listeners, std::vector<os::Fd> datagrams,
              const Secret& token);
  void Serve(const std::stop_token& stop);

  std::vector<os::Listener> listeners_;
  std::vector<os::Fd> datagrams_;
  Secret token_;
  os::Fd wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace ringlet::cli
