// A rank's communicator: how to form, use and leave it. C++17 and later. Errors are values.
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
  /// Time limit for forming the communicator, 100 ms to 7 days. Empty: RINGLET_INIT_TIMEOUT.
  std::optional<std::chrono::milliseconds> init_timeout = {};
  /// Time limit for one operation, 100 ms to 7 days. Empty: RINGLET_TIMEOUT.
  std::optional<std::chrono::milliseconds> timeout = {};
  /// The device near this rank. Each rank of a host names a different device. Empty: no device.
  std::optional<std::uint32_t> device = {};
  /// Ids of further roots for very many ranks, from other processes; the same on all ranks.
  std::vector<UniqueId> more_ids = {};
  /// Variables that override those of the process. Communicators with equal variables share their
  /// threads. A process may use at most 16 different sets.
  Environment environment = {};
};

/// A rank's handle of a communicator. Move-only. The destructor acts as Destroy.
///
/// A handle is empty if it was default-constructed, moved from or destroyed, or if Split got no
/// color. An empty handle has size 0 and refuses operations with kInvalidArgument.
///
/// Threads  One thread at a time uses a communicator. Any thread may call Abort, failure, rank,
///          size and hosts meanwhile. Different communicators are independent. A forked process may
///          not use the communicators of its parent.
///
/// All ranks call operations in the same order, with equal counts, type, reduction and root. An
/// operation blocks until this rank's part is done: its output is complete, and its input may be
/// overwritten. Counts are numbers of elements; n is size(). Buffers of one call do not overlap,
/// except in place where the operation allows it. An operation with 0 elements does not wait.
/// Errors  kInvalidArgument  the call is wrong and has no effect; names lengths that differ
///         kProtocol         a rank made another call; the message names the ranks and both calls
///         kTimeout          the message names the missing ranks
///         kPeerLost         the message and Error::lost_rank name the lost rank
///         kAborted          the message names the aborting rank and its reason
/// After any error except kInvalidArgument, the communicator has failed on all ranks for good;
/// failure() returns the reason. Continue with Reform, or form another communicator.
class RINGLET_API Communicator {
 public:
  /// Joins the communicator of `id` as one of `size` ranks. Blocks until all ranks have joined.
  ///
  /// \param id    from UniqueId::Create on one rank, or from CreateGrowthId; the same on all ranks
  /// \param rank  0 to size - 1, each used once; ranks may be threads of one process
  /// \param size  1 to 16777216, the same on all ranks
  /// Errors  kInvalidArgument  rank, size, id or an option is wrong; settings differ among ranks; a
  ///                           rank joins twice
  ///         kTimeout   some ranks are missing; the message names them
  ///         kPeerLost  a rank died; the message names it
  ///         kProtocol  a peer has another version
  ///         kSystem    descriptors, threads or memory ran out
  /// Source  docs/explanation/bootstrap.md lists the steps and their costs
  static Result<Communicator> Create(const UniqueId& id, Rank rank, std::uint32_t size,
                                     const CommunicatorOptions& options = {});

  /// Forms a communicator of `size` ranks within this process and returns its handles in rank
  /// order. One thread can drive all of them with a Group, or one thread can drive each.
  /// \param options  apply to all ranks; `device` must be empty
  /// Errors  as Create; kInvalidArgument  size is above 65536
  static Result<std::vector<Communicator>> CreateAll(std::uint32_t size,
                                                     const CommunicatorOptions& options = {});

  Communicator() noexcept;
  Communicator(Communicator&& other) noexcept;
  /// Leaves the previously held communicator as Destroy does.
  Communicator& operator=(Communicator&& other) noexcept;
  /// Leaves the communicator as Destroy does, and discards the Status.
  ~Communicator();

  /// True unless the handle is empty.
  explicit operator bool() const noexcept { return impl_ != nullptr; }
  /// This rank's number; Rank{0} if empty.
  Rank rank() const noexcept;
  /// The number of ranks; 0 if empty.
  std::uint32_t size() const noexcept;
  /// The number of hosts of the ranks; 0 if empty.
  std::uint32_t hosts() const noexcept;

  /// Every rank gets the reduction over all ranks.
  /// \param send, receive  equal number and type of elements on all ranks; may be the same memory
  /// \param op  any except ReduceOp::kPreMulSum. The plan determines the order of float additions,
  ///            so a sum is equal on all ranks and in each run with the same plan, but may differ
  ///            from a serial sum
  /// Cost    ring: 2 (n - 1) / n of the bytes sent per rank; see docs/explanation/collectives.md
  Status AllReduce(SendBuffer send, ReceiveBuffer receive, ReduceOp op = ReduceOp::kSum);

  /// The root gets the reduction over all ranks.
  /// \param receive  on the root: as long as `send`, may be the same memory; ignored on other ranks
  Status Reduce(SendBuffer send, ReceiveBuffer receive, ReduceOp op, Rank root);

  /// Every rank gets the root's elements.
  /// \param data  the same length on all ranks; read on the root, written on other ranks
  Status Broadcast(ReceiveBuffer data, Rank root);

  /// Every rank gets the elements of all ranks, in rank order.
  /// \param send     the same length on all ranks; in place at receive + rank * send.count()
  /// \param receive  n * send.count() elements
  Status AllGather(SendBuffer send, ReceiveBuffer receive);

  /// Rank r gets the r-th block of the reduction over all ranks.
  /// \param send     n * receive.count() elements
  /// \param receive  the same length on all ranks; in place at send + rank * receive.count()
  Status ReduceScatter(SendBuffer send, ReceiveBuffer receive, ReduceOp op = ReduceOp::kSum);

  /// Rank r gets the r-th block of every rank's elements, in rank order.
  /// \param send, receive  a multiple of n, equal on all ranks; if the same memory, costs a copy
  Status AllToAll(SendBuffer send, ReceiveBuffer receive);

  /// Rank r gets the r-th block of the root's elements.
  /// \param send     on the root: n * receive.count() elements; ignored on other ranks
  /// \param receive  the same length on all ranks; on the root in place at send + rank * count
  Status Scatter(SendBuffer send, ReceiveBuffer receive, Rank root);

  /// The root gets the elements of all ranks, in rank order.
  /// \param send     the same length on all ranks; on the root in place at receive + rank * count
  /// \param receive  on the root: n * send.count() elements; ignored on other ranks
  Status Gather(SendBuffer send, ReceiveBuffer receive, Rank root);

  /// Sends to rank `to`, which calls Receive with the same count and type. Returns when the memory
  /// may be overwritten, possibly before `to` has the data. Two ranks that both send first and
  /// receive then may block each other; use a Group instead.
  Status Send(SendBuffer data, Rank to);
  /// Receives the data that rank `from` sends, in the order of its sends.
  Status Receive(ReceiveBuffer data, Rank from);

  /// Returns when all ranks have called Barrier.
  Status Barrier();

  /// Forms one communicator for each color. Its ranks are the callers with that color, in the order
  /// of their keys, then of their ranks. All ranks call it. This communicator stays usable. Parent
  /// and child end independently.
  /// \param color  empty: this rank joins no child and gets an empty communicator
  /// Errors  as Create
  Result<Communicator> Split(std::optional<std::int32_t> color, std::int32_t key = 0);

  /// Forms a communicator of all ranks except `excluded`. Works after a failure too. The remaining
  /// ranks call it and keep their order.
  /// \param excluded  ranks of this communicator, each below size(), the same on all callers
  /// Errors  kInvalidArgument  a rank does not exist or is the caller; else as Create
  Result<Communicator> Shrink(const std::vector<Rank>& excluded);

  /// Forms a communicator of the ranks that are not lost, in their order, after this one has
  /// failed. The remaining ranks call it. They agree on the lost ranks, even if more ranks die
  /// meanwhile or if they have learned of different lost ranks. A rank may die when some ranks have
  /// the new communicator and others still form it. Operations of the new communicator then fail.
  /// The ranks that have it reform it, and meet the others. \param ranks_min  if fewer ranks
  /// remain, the call fails on all; the same on all ranks. To not
  ///                   continue on both sides of a divided network, pass more than half of size()
  /// Errors  kInvalidArgument  this communicator has not failed; too few ranks remain
  ///         kPeerLost         the other ranks have lost this one; else as Create
  /// Cost    that of Shrink, once more for each set of lost ranks that some ranks do not know
  Result<Communicator> Reform(std::uint32_t ranks_min = 1);

  /// Creates the id for growing this communicator. One rank calls it, passes the id to its own
  /// Grow, and sends it to the new processes, which call Create with the new size and ranks from
  /// size() up.
  /// Errors  kUnsupported  RINGLET_COMM_ID fixes the address
  Result<UniqueId> CreateGrowthId();
  /// Forms a communicator of new ranks and all ranks of this one, which keep their numbers.
  /// \param size  size of the new communicator, above size()
  /// \param id    from CreateGrowthId, on exactly one rank
  /// Errors  kInvalidArgument  no rank or several passed an id; `size` is too small; as Create
  Result<Communicator> Grow(std::uint32_t size, const std::optional<UniqueId>& id = {});

  /// Fails the communicator on all ranks with kAborted. Running operations return soon; later
  /// operations of this rank are refused. Any thread may call it repeatedly, except while the
  /// handle is moved or destroyed. Does not wait for other ranks. No effect if empty.
  /// \param why  ends the message "rank ... aborted the communicator: "
  void Abort(const std::string& why) noexcept;

  /// Returns the failure, with its reason; empty while the communicator works. Never waits.
  std::optional<Error> failure() const;

  /// Leaves the communicator and empties the handle. Ranks that still use it get kPeerLost.
  /// Errors  kInvalidArgument  the handle is empty already
  ///         the failure of the communicator, if it has failed; the handle is left nevertheless
  Status Destroy();

 private:
  friend class Group;
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// A group of operations that run together, on one or several communicators of this process.
/// Different communicators run at the same time. Each communicator runs its collectives in order,
/// then all its messages at once. So one thread can drive several ranks, and ranks can exchange
/// messages.
///
///   ringlet::Group group;
///   for (std::size_t i = 0; i < ranks.size(); ++i) group.AllReduce(ranks[i], data[i], data[i]);
///   if (ringlet::Status status = group.End(); !status.ok()) ...
///
/// The functions collect operations of Communicator; a wrong call makes End fail. Buffers live
/// until End has returned. One thread at a time uses a Group. Only the constructor may throw:
/// std::bad_alloc.
class RINGLET_API Group {
 public:
  Group();
  /// Drops the collected calls; none of them runs.
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

  /// The number of collected calls.
  std::size_t size() const noexcept;

  /// Runs the collected calls, blocks until all of them are done, and is ready for the next calls.
  /// Errors  kInvalidArgument  a call is wrong; the message names its position, and no call runs
  ///         else as Communicator's; the unfinished communicators have failed
  Status End();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringlet
