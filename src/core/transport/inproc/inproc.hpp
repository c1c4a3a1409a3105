// Inproc: links between ranks of one process, and the table through which such ranks meet.
#pragma once
#include <array>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <tuple>

#include "base/wire/machine.hpp"
#include "transport/arena/shared_buffers.hpp"
#include "transport/link/doorbell_waiter.hpp"
#include "transport/link/pipe.hpp"
#include "transport/link/transport.hpp"

namespace ringlet::transport {

/// Memory of one link: two pipes. Both ends share it, and the last one frees it.
struct InprocChannel {
  std::unique_ptr<std::byte[], void (*)(std::byte*)> memory{nullptr, nullptr};
  std::array<PipePlace, 2> pipes{};    // [0] carries data from the lower to the higher rank
  std::array<std::mutex, 2> offers{};  // held while offers on that pipe are read
  std::array<std::shared_ptr<RankBell>, 2> bells{};  // [0] belongs to the lower rank
};

/// The table through which ranks of one process find each other. The owner of the process's service
/// thread creates it and passes it to every Connect. Callable from any thread.
class InprocExchange {
 public:
  struct RankPair {
    std::uint64_t magic = 0;  ///< of their communicator
    Rank self{}, peer{};
  };

  /// Registers this rank for a pair. Never blocks. Both ranks call Arrive, in any order, and then
  /// either Await once or Take repeatedly. The second arrival wakes the first rank's waiter.
  /// \param pipe_bytes  the first arrival decides
  void Arrive(const RankPair& pair, std::shared_ptr<RankBell> bell, std::size_t pipe_bytes);

  /// Blocks until the peer has arrived and returns their channel.
  /// Errors  kTimeout  the peer has not arrived by `deadline` (of os::SocketDriver::Now)
  ///         kAborted  `abort` was requested
  Result<std::shared_ptr<InprocChannel>> Await(const RankPair& pair, Instant deadline,
                                               const std::stop_token& abort);
  /// Does the same without blocking. Returns null if the peer has not arrived.
  std::shared_ptr<InprocChannel> Take(const RankPair& pair);

  /// Eventfds that the ranks of the process share; see DoorbellWaiterOptions. Null if descriptors
  /// are exhausted.
  std::shared_ptr<const os::Fd> Ready() { return Made(ready_, 1); }
  std::shared_ptr<const os::Fd> RungFromOutside() { return Made(rung_from_outside_, 0); }

  /// Leaves a pair before its link exists. A peer that has already arrived sees a lost link.
  void Withdraw(const RankPair& pair);

 private:
  using Key = std::tuple<std::uint64_t, Rank, Rank>;  // magic, lower, higher
  struct PairEntry {
    std::shared_ptr<InprocChannel> channel;
    std::array<bool, 2> taken{};
  };
  std::shared_ptr<const os::Fd> Made(std::shared_ptr<const os::Fd>& event, unsigned count);
  static Key KeyOf(const RankPair& pair);
  std::shared_ptr<InprocChannel> TakeLocked(const RankPair& pair);
  static std::size_t SideOf(const RankPair& pair) { return pair.self < pair.peer ? 0 : 1; }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<Key, PairEntry> entries_;
  std::shared_ptr<const os::Fd> ready_, rung_from_outside_;
};

/// Creates this rank's end of a channel. \pre  Both ranks have arrived.
std::unique_ptr<Link> MakeInprocLink(std::shared_ptr<InprocChannel> channel, Rank self, Rank peer,
                                     const std::string& peer_host, const RtsSizes& offers = {});

/// Returns why the ranks cannot be linked within one process. Empty if they can.
inline std::string InprocObstacle(const Neighbour& self, const Neighbour& peer) {
  return self.process_hash == peer.process_hash ? "" : "it is another process";
}

struct InprocTransportParts {
  Rank self{};
  std::uint64_t magic = 0;  ///< of the communicator
  InprocExchange& exchange;
  std::shared_ptr<RankBell> bell;
  std::size_t pipe_bytes = kPipeBytesDefault;
  std::shared_ptr<const RtsParts> rts;
};

class InprocTransport final : public Transport {
 public:
  explicit InprocTransport(InprocTransportParts parts) : parts_(std::move(parts)) {}

  Status Expect(std::span<const Neighbour* const> peers) override;
  std::uint32_t lines() const override { return 0; }
  Result<LineOffer> Invite(const Neighbour&) override { return LineOffer{}; }
  Status Await(const Neighbour& peer, Instant deadline, const std::stop_token& abort) override;
  Result<std::unique_ptr<Link>> Make(const Neighbour& peer, std::span<PeerConnection> met) override;
  void Withdraw(const Neighbour& peer) override;

 private:
  InprocExchange::RankPair PairWith(const Neighbour& peer) const {
    return {parts_.magic, parts_.self, peer.rank};
  }

  const InprocTransportParts parts_;
  std::map<Rank, std::shared_ptr<InprocChannel>> awaited_;  // until Make
};

}  // namespace ringlet::transport
