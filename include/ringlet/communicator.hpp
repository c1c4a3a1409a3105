// A rank's communicator: formed, used, left. Compiles as C++17 and later; errors are values.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ringlet/buffer.hpp"
#include "ringlet/export.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "ringlet/unique_id.hpp"

namespace ringlet {

class Group;

/// Options of a communicator. Each field has a default.
struct CommunicatorOptions {
  /// How long forming may take, 100 ms to 7 days. Empty: RINGLET_INIT_TIMEOUT.
  std::optional<std::chrono::milliseconds> init_timeout = {};
  /// How long one operation may take, 100 ms to 7 days. Empty: RINGLET_TIMEOUT.
  std::optional<std::chrono::milliseconds> timeout = {};
  /// The device near which the rank runs; no other rank of the host may name it. Empty: none.
  std::optional<std::uint32_t> device = {};
  /// Of further roots, made by other processes, for very many ranks: the same list on all ranks.
  std::vector<UniqueId> more_ids = {};
  /// Variables that stand in for those of the process. Communicators with equal ones share their
  /// threads; a process may use 16 different ones.
  Environment environment = {};
};

/// A communicator as one rank holds it. Move-only; the destructor leaves in good order.
///
/// An empty one (default-constructed, moved from, destroyed, or of a rank without a color in Split)
/// has size 0 and refuses operations with kInvalidArgument.
///
/// Threads  One thread at a time uses a communicator, but Abort, failure, rank, size and hosts may
///          be called by any thread meanwhile. Different communicators are independent. A process
///          that was forked may not use those of its parent.
///
/// Operations are called by all ranks in the same order, with equal counts, type, reduction and
/// root. Each blocks until this rank's part is done: its output is complete, its input is no longer
/// needed. Counts are of elements; n is size(). Buffers of one call do not overlap, except in place
/// as said at each. With 0 elements an operation does not wait.
/// Errors  kInvalidArgument  the call is wrong: nothing happened. A mismatch of lengths names both
///         kProtocol         a rank called something else; names the ranks and both calls
///         kTimeout          names the ranks that are awaited
///         kPeerLost         names the rank that is gone
///         kAborted          names the rank that aborted, and why
/// After any but the first the communicator has failed on all ranks and stays so: failure() says
/// why. Continue with Shrink, or form another.
class RINGLET_API Communicator {
 public:
  /// Joins the communicator of `id` as one of `size` ranks. Blocks until all have joined.
  ///
  /// \param id    from UniqueId::Create on one rank, or from CreateGrowthId; the same on all ranks
  /// \param rank  0 to size - 1, each once; ranks may be threads of one process
  /// \param size  1 to 16777216, the same on all ranks
  /// Errors  kInvalidArgument  rank, size, id or an option; settings that differ among ranks; a
  ///                           rank that joins twice
  ///         kTimeout  names the missing ranks      kPeerLost  names a rank that died
  ///         kProtocol  a peer of another version   kSystem    descriptors, threads, memory
  /// Source  docs/explanation/bootstrap.md has the steps and what each costs
  static Result<Communicator> Create(const UniqueId& id, Rank rank, std::uint32_t size,
                                     const CommunicatorOptions& options = {});

  /// All ranks of a communicator within this process, in the order of their ranks: for one thread
  /// that drives them with a Group, or a thread for each.
  /// \param options  of all of them; `device` must be empty
  /// Errors  as Create; kInvalidArgument  size above 65536
  static Result<std::vector<Communicator>> CreateAll(std::uint32_t size,
                                                     const CommunicatorOptions& options = {});

  Communicator() noexcept;
  Communicator(Communicator&& other) noexcept;
  /// Leaves the communicator that was held before, as Destroy.
  Communicator& operator=(Communicator&& other) noexcept;
  /// As Destroy; the Status is lost.
  ~Communicator();

  /// Whether it is not empty.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// This rank's number. Rank{0} of an empty one.
  Rank rank() const noexcept;
  /// The number of ranks. 0 of an empty one.
  std::uint32_t size() const noexcept;
  /// The number of hosts that the ranks run on. 0 of an empty one.
  std::uint32_t hosts() const noexcept;

  /// Every rank gets the reduction over all.
  /// \param send, receive  equally many elements of one type on all ranks; may be the same memory
  /// \param op  sums of floats associate in the order of the plan: equal on all ranks and in each
  ///            run with the same plan, but not to a serial sum. All but ReduceOp::kPreMulSum
  /// Cost    ring: 2 (n - 1) / n of the bytes sent per rank; see docs/explanation/collectives.md
  Status AllReduce(SendBuffer send, ReceiveBuffer receive, ReduceOp op = ReduceOp::kSum);

  /// The root gets the reduction over all.
  /// \param receive  on the root: as long as `send`, may be the same memory; not looked at
  /// elsewhere
  Status Reduce(SendBuffer send, ReceiveBuffer receive, ReduceOp op, Rank root);

  /// Every rank gets the root's elements.
  /// \param data  equally many on all ranks; read on the root, written elsewhere
  Status Broadcast(ReceiveBuffer data, Rank root);

  /// Every rank gets the elements of all, in the order of their ranks.
  /// \param send     equally many on all ranks; in place at receive + rank * send.count()
  /// \param receive  n * send.count()
  Status AllGather(SendBuffer send, ReceiveBuffer receive);

  /// Rank r gets the r-th block of the reduction over all.
  /// \param send     n * receive.count()
  /// \param receive  equally many on all ranks; in place at send + rank * receive.count()
  Status ReduceScatter(SendBuffer send, ReceiveBuffer receive, ReduceOp op = ReduceOp::kSum);

  /// Rank r gets the r-th block of every rank's elements, in the order of the ranks.
  /// \param send, receive  equally many, a multiple of n; may be the same memory, at the cost of a
  ///                       copy
  Status AllToAll(SendBuffer send, ReceiveBuffer receive);

  /// Rank r gets the r-th block of the root's elements.
  /// \param send     on the root: n * receive.count(); not looked at elsewhere
  /// \param receive  equally many on all ranks; on the root in place at send + rank * count
  Status Scatter(SendBuffer send, ReceiveBuffer receive, Rank root);

  /// The root gets the elements of all ranks, in the order of the ranks.
  /// \param send     equally many on all ranks; on the root in place at receive + rank * count
  /// \param receive  on the root: n * send.count(); not looked at elsewhere
  Status Gather(SendBuffer send, ReceiveBuffer receive, Rank root);

  /// Sends to one rank, which calls Receive with the same count and type. Returns when the memory
  /// may be overwritten, which may be before `to` has the data. Two ranks that send to each other
  /// first and receive then may block each other: use a Group.
  Status Send(SendBuffer data, Rank to);
  /// Receives what rank `from` sends, in the order of its sends.
  Status Receive(ReceiveBuffer data, Rank from);

  /// Returns when all ranks have called it.
  Status Barrier();

  /// Makes communicators of the ranks that give the same color, in the order of their keys, then of
  /// their ranks. All ranks call it. This communicator stays; parent and child end independently.
  /// \param color  empty: this rank joins none and gets an empty communicator
  /// Errors  as Create
  Result<Communicator> Split(std::optional<std::int32_t> color, std::int32_t key = 0);

  /// Makes a communicator of all ranks but `excluded`, also after a failure. Called by those that
  /// stay, which keep their order.
  /// \param excluded  ranks of this communicator, each below size(), the same on all callers
  /// Errors  kInvalidArgument  a rank that does not exist, or the caller's own; else as Create
  Result<Communicator> Shrink(const std::vector<Rank>& excluded);

  /// The id with which this communicator grows: made by one rank, given to its own Grow and to the
  /// new processes, which pass it to Create with the new size and ranks from size() up.
  /// Errors  kUnsupported  RINGLET_COMM_ID fixes the address
  Result<UniqueId> CreateGrowthId();
  /// Makes a communicator of all ranks of this one, which keep their numbers, and of new ones.
  /// \param size  of the new one, above size()
  /// \param id    on exactly one rank, from CreateGrowthId
  /// Errors  kInvalidArgument  no rank or several gave an id, the size is too small; else as Create
  Result<Communicator> Grow(std::uint32_t size, const std::optional<UniqueId>& id = {});

  /// Fails the communicator on all ranks, with kAborted: operations that run return soon, later
  /// ones of this rank are refused. Any thread, any time, several times, but not while it is moved
  /// or destroyed. Does nothing where it is empty. Does not wait for other ranks. \param why  ends
  /// the message "rank ... aborted the communicator: "
  void Abort(const std::string& why) noexcept;

  /// Why the communicator has failed; empty while it works. Any thread. Does not wait.
  std::optional<Error> failure() const;

  /// Leaves in good order: ranks that still use it get kPeerLost. It is empty then.
  /// Errors  kInvalidArgument  it is empty already
  ///         its failure, if it has failed; it is left nevertheless
  Status Destroy();

 private:
  friend class Group;
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Operations that run together, of one or several communicators of this process: those of
/// different communicators at the same time; of each first its collectives in their order, then all
/// its messages at once. So one thread can drive several ranks, and ranks can exchange messages.
///
///   ringlet::Group group;
///   for (std::size_t i = 0; i < ranks.size(); ++i) group.AllReduce(ranks[i], data[i], data[i]);
///   if (ringlet::Status status = group.End(); !status.ok()) ...
///
/// The functions collect what those of Communicator would run; a wrong call makes End fail. Buffers
/// live until End has returned. One thread at a time. Only the constructor may throw:
/// std::bad_alloc.
class RINGLET_API Group {
 public:
  Group();
  /// Calls that were not run by End are dropped: none of them runs.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  void AllReduce(const Communicator& on, SendBuffer send, ReceiveBuffer receive,
                 ReduceOp op = ReduceOp::kSum);
  void Reduce(const Communicator& on, SendBuffer send, ReceiveBuffer receive, ReduceOp op,
              Rank root);
  void Broadcast(const Communicator& on, ReceiveBuffer data, Rank root);
  void AllGather(const Communicator& on, SendBuffer send, ReceiveBuffer receive);
  void ReduceScatter(const Communicator& on, SendBuffer send, ReceiveBuffer receive,
                     ReduceOp op = ReduceOp::kSum);
  void AllToAll(const Communicator& on, SendBuffer send, ReceiveBuffer receive);
  void Scatter(const Communicator& on, SendBuffer send, ReceiveBuffer receive, Rank root);
  void Gather(const Communicator& on, SendBuffer send, ReceiveBuffer receive, Rank root);
  void Send(const Communicator& on, SendBuffer data, Rank to);
  void Receive(const Communicator& on, ReceiveBuffer data, Rank from);
  void Barrier(const Communicator& on);

  /// The number of calls that End would run.
  std::size_t size() const noexcept;

  /// Runs what was collected, blocks until all of it is done, and is ready for the next calls.
  /// Errors  kInvalidArgument  a call is wrong, named by its place: nothing runs
  ///         else as Communicator's; the communicators that had not finished have failed
  Status End();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringlet
