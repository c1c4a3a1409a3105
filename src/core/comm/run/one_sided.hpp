// Registered memory, and windows: memory of each rank that its peers write into without its help,
// with signals that announce what they wrote. The service thread of the owner writes what arrives
// over the control network and answers for the rank; ranks of a host that reach the window's memory
// write there themselves.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collective/call/operation.hpp"
#include "comm/backend/host_memory.hpp"
#include "comm/control/control.hpp"
#include "comm/process/registered_heap.hpp"
#include "comm/run/work.hpp"
#include "transport/arena/shared_buffers.hpp"

namespace ringlet::comm {

class OneSided {
 public:
  /// All references outlive this; `control` leaves before it goes.
  /// \param wake    wakes the rank's thread. Any thread
  /// \param memory  through which ranks of one host reach each other's memory
  OneSided(Control& control, std::function<void()> wake, HostMemory& memory,
           const RegisteredHeap& heap);
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  struct Window {
    std::span<std::byte> memory = {};
    std::uint64_t registration = 0;  ///< of the memory
    std::uint32_t flags = 0;         ///< the caller's
  };

  /// Announces memory that will be used often. Memory in an allocation of RegisteredHeap is then
  /// not staged by collectives of one host, where all ranks have registered theirs, and messages
  /// from it are copied once; other memory is accepted as it is. Local, costs microseconds. Any
  /// thread. The same memory again gives the same registration, which then has to be ended as
  /// often. \param memory  not empty; outlives the registration, which ends with Deregister or with
  /// this. Errors  kInvalidArgument  empty; or why the communicator has failed
  Result<std::uint64_t> Register(View memory);
  /// No operation that uses the memory is running. Errors  kInvalidArgument  no such registration
  Status Deregister(std::uint64_t registration);

  // Windows are numbered from 1 in the order in which a rank opens them: the n-th of all ranks are
  // one window. Any thread.
  /// Registers the memory and opens a window on it, until Close or the end of this. Peers may write
  /// to it at once. \param flags  the caller's, kept with the window
  /// Errors  as Register
  Result<std::uint32_t> Open(std::span<std::byte> memory, std::uint32_t flags);
  /// Peers do not write to it any more when this returns, but those that reach it by themselves.
  /// Errors  kInvalidArgument  no such window, or not any more
  Status Close(std::uint32_t window);
  /// Errors  as Close
  Result<Window> Find(std::uint32_t window) const;
  /// Whether `memory` lies in a window with all of `flags`.
  bool HasWindowOf(View memory, std::uint32_t flags) const;

  // By the rank's thread, which drives them to their end before this goes.
  /// Carries them out, those for one peer in their order. Done when all of them have arrived.
  /// Errors  kInvalidArgument  what is written lies beyond the peer's window; that one is closed
  std::unique_ptr<collective::Operation> Run(std::vector<Put> puts);
  /// Done when all signals have been raised so often; they count anew then.
  std::unique_ptr<collective::Operation> Run(std::vector<SignalWait> waits);

  Rank self() const { return control_.rank(); }

 private:
  friend class PutRun;
  friend class SignalRun;
  struct PeerWindow {
    std::uint64_t bytes = 0;
    transport::BufferPlace place = {};
  };
  /// Puts and signals that were sent to a peer, and how many of them have arrived.
  struct PutCount {
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    std::optional<Error> refused = {};
  };
  using SignalKey =
      std::tuple<Rank, std::uint32_t, std::uint32_t>;  // rank that raises it, context, number

  void OnMessage(const bootstrap::PushedMessage& pushed);
  Status Take(Rank from, Reader& in);
  Status TakeAsk(Rank from, Reader& in);
  Status TakeTell(Rank from, Reader& in);
  Status TakePut(Rank from, Reader& in);
  Status TakeSignal(Rank from, Reader& in);
  Status TakeArrived(Rank from);
  void Tell(Rank whom, std::uint32_t window, std::span<std::byte> memory);
  void Refuse(Rank whom, const std::string& why);
  void Raise(Rank from, const Signal& signal) { ++raised_[{from, signal.context, signal.number}]; }
  void Send(Rank to, Bytes message);
  std::string NoWindow(std::uint32_t window) const;

  std::optional<transport::BufferPlace> PlaceOf(View memory) const;
  /// Memory of a peer; null: it cannot be reached. The rank's thread.
  std::byte* Reach(Rank peer, const transport::BufferPlace& place, std::size_t bytes) const;

  Control& control_;
  std::function<void()> wake_;
  HostMemory& memory_;
  const RegisteredHeap& heap_;
  mutable std::mutex mutex_;  // of all that follows
  std::uint32_t opened_ = 0;
  std::map<std::uint32_t, Window> windows_;
  std::set<std::pair<Rank, std::uint32_t>> asking_;  // ranks that wait for a window to be opened
  std::map<std::pair<Rank, std::uint32_t>, std::optional<PeerWindow>> known_;  // empty: asked for
  std::map<Rank, PutCount> traffic_;
  std::map<SignalKey, std::uint64_t> raised_;
};

}  // namespace ringlet::comm
