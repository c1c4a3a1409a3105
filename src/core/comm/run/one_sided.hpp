// Registered memory, and windows. Peers write into a window without its owner's help and announce
// their data with signals. The owner's service thread writes data that arrive over the control
// network and answers for the rank. Ranks of a host that can access the window's memory write there
// themselves.
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
#include "comm/process/parts/registered_heap.hpp"
#include "comm/run/work.hpp"
#include "transport/arena/shared_buffers.hpp"

namespace ringlet::comm {

class OneSided {
 public:
  /// All references outlive this. `control` leaves before this is destroyed.
  /// \param wake    wakes the rank's thread. Any thread
  /// \param memory  gives ranks of one host access to each other's memory
  OneSided(Control& control, std::function<void()> wake, HostMemory& memory,
           const RegisteredHeap& heap);
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  struct Window {
    std::span<std::byte> memory = {};
    std::uint64_t registration = 0;  ///< of the memory
    std::uint32_t flags = 0;         ///< the caller's
  };

  /// Announces memory that will be used often. Collectives of one host then do not stage memory of
  /// RegisteredHeap if all ranks have registered theirs, and messages from it are copied once.
  /// Other memory is accepted without a benefit. Local, costs microseconds. Any thread. Repeated
  /// calls for the same memory return the same registration, which needs as many Deregister calls.
  /// \param memory  not empty; outlives the registration, which ends with Deregister or with this.
  /// Errors  kInvalidArgument  empty; or the reason why the communicator has failed
  Result<std::uint64_t> Register(View memory);
  /// \pre  no running operation uses the memory. Errors  kInvalidArgument  no such registration
  Status Deregister(std::uint64_t registration);

  // A rank numbers its windows from 1 as it opens them. The n-th windows of all ranks are one
  // window. Any thread.
  /// Registers the memory and opens a window on it, until Close or the end of this. Peers may write
  /// to it at once. \param flags  the caller's, kept with the window
  /// Errors  as Register
  Result<std::uint32_t> Open(std::span<std::byte> memory, std::uint32_t flags);
  /// After this returns, only peers that access the memory directly can still write to it.
  /// Errors  kInvalidArgument  the window does not exist or is closed
  Status Close(std::uint32_t window);
  /// Errors  as Close
  Result<Window> Find(std::uint32_t window) const;
  /// Returns true if `memory` lies in a window with all of `flags`.
  bool HasWindowOf(View memory, std::uint32_t flags) const;

  // Called by the rank's thread, which runs the operations to their end before this is destroyed.
  /// Runs puts. Those for one peer keep their order. Done when all of them have arrived.
  /// Errors  kInvalidArgument  the data exceed the peer's window, or it is closed
  std::unique_ptr<collective::Operation> Run(std::vector<Put> puts);
  /// Done when all signals have been raised so often. Their counts then start anew.
  std::unique_ptr<collective::Operation> Run(std::vector<SignalWait> waits);

  Rank self() const { return control_.rank(); }

 private:
  friend class PutRun;
  friend class SignalRun;
  struct PeerWindow {
    std::uint64_t bytes = 0;
    transport::BufferPlace place = {};
  };
  /// Numbers of puts and signals sent to a peer, and of those that have arrived.
  struct PutCount {
    std::uint64_t sent = 0;
    std::uint64_t arrived = 0;
    std::optional<Error> refused = {};
  };
  using SignalKey =
      std::tuple<Rank, std::uint32_t, std::uint32_t>;  // rank that raises it, context, number

  void OnMessage(const bootstrap::PushedMessage& pushed);
  Status Take(Rank from, Reader& in);
  Status HandleQuery(Rank from, Reader& in);
  Status HandleWindow(Rank from, Reader& in);
  Status HandlePut(Rank from, Reader& in);
  Status HandleSignal(Rank from, Reader& in);
  Status HandleArrived(Rank from);
  void SendWindow(Rank whom, std::uint32_t window, std::span<std::byte> memory);
  void Refuse(Rank whom, const std::string& why);
  void Raise(Rank from, const Signal& signal) { ++raised_[{from, signal.context, signal.number}]; }
  void Send(Rank to, Bytes message);
  std::string NoWindow(std::uint32_t window) const;

  std::optional<transport::BufferPlace> PlaceOf(View memory) const;
  /// Returns memory of a peer, or null if it cannot be accessed. Called on the rank's thread.
  std::byte* Reach(Rank peer, const transport::BufferPlace& place, std::size_t bytes) const;

  Control& control_;
  std::function<void()> wake_;
  HostMemory& memory_;
  const RegisteredHeap& heap_;
  mutable std::mutex mutex_;  // guards all following members
  std::uint32_t opened_ = 0;
  std::map<std::uint32_t, Window> windows_;
  std::set<std::pair<Rank, std::uint32_t>> asking_;  // ranks that wait for a window to open
  std::map<std::pair<Rank, std::uint32_t>, std::optional<PeerWindow>> known_;  // empty: queried
  std::map<Rank, PutCount> traffic_;
  std::map<SignalKey, std::uint64_t> raised_;
};

}  // namespace ringlet::comm
