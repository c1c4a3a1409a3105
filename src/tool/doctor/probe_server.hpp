// Answers probes of other hosts: echoes small messages, counts received bytes, acknowledges
// datagrams. It runs in its own thread, so that hosts can probe each other at once.
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

/// The kind of a probe. A connection begins with the token, which only the hosts of one doctor
/// share, and one byte with the kind.
enum class ProbeKind : std::uint8_t {
  kEcho = 'e',   ///< the server returns each message of kEchoBytes
  kCount = 'c',  ///< the server reads for kCountTime, then sends a ProbeCount
};
inline constexpr std::size_t kEchoBytes = 8;
inline constexpr std::chrono::milliseconds kCountTime(150);
/// Size of the mark in the answer to a datagram. A datagram begins with the token. The answer is
/// the first kMarkBytes of the token and the length of the datagram.
inline constexpr std::size_t kMarkBytes = 8;

struct ProbeCount {
  std::uint64_t bytes = 0, ns = 0;
};

class ProbeServer {
 public:
  /// Listens at each address, on any free port, and for datagrams on the same port if it is free.
  /// Errors  kSystem  it cannot listen at any address; the message has the reason for the last one
  static Result<std::unique_ptr<ProbeServer>> Start(const std::vector<Address>& addresses,
                                                    const Secret& token);
  ~ProbeServer() = default;
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  /// Returns the endpoints in the order of `addresses`, without those at which listening failed.
  std::vector<Address> endpoints() const;

 private:
  ProbeServer(std::vector<os::Listener> listeners, std::vector<os::Fd> datagrams,
              const Secret& token);
  void Serve(const std::stop_token& stop);

  std::vector<os::Listener> listeners_;
  std::vector<os::Fd> datagrams_;
  Secret token_;
  os::Fd wake_;
  std::jthread thread_;  // last member, because the thread uses the others
};

}  // namespace ringlet::cli
