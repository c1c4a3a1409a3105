// The process group of PyTorch. Included by module.cpp only.
//
// An operation checks its tensors on the caller's thread, becomes a job of the group's serial
// executor, and gives a Work. A caller that will wait anyway, or that waits before another thread
// has begun, runs the job itself; only operations that go on beside their caller cost a change of
// thread.
#pragma once
#include <ATen/ThreadLocalState.h>
#include <ATen/record_function.h>
#include <fmt/ranges.h>
#include <torch/extension.h>

#include <torch/csrc/distributed/c10d/debug.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "frontends/torch/calls/calls.hpp"
#include "frontends/torch/calls/p2p_queue.hpp"
#include "frontends/torch/execution/hooks.hpp"
#include "frontends/torch/execution/interrupts.hpp"
#include "frontends/torch/execution/python_line.hpp"
#include "frontends/torch/execution/timeout_extensions.hpp"
#include "frontends/torch/execution/work.hpp"
#include "frontends/torch/group/group.hpp"
#include "frontends/torch/group/monitor.hpp"
#include "frontends/torch/store/membership.hpp"
#include "frontends/torch/store/store.hpp"
#include "frontends/torch/tensors/tensors.hpp"
#include "frontends/torch/versions.hpp"

namespace ringlet::torch_api {

using WorkPointer = c10::intrusive_ptr<c10d::Work>;

class BackendOptions : public c10d::Backend::Options {
 public:
  explicit BackendOptions(std::chrono::milliseconds operation_timeout = kBackendDefaultTimeout)
      : Options("ringlet", operation_timeout) {}

  /// PyTorch's since 2.15: a group that is split gets options of its own.
  c10::intrusive_ptr<c10d::Backend::Options> clone() const {
    return c10::make_intrusive<BackendOptions>(*this);
  }

  std::chrono::milliseconds init_timeout{0};  ///< of forming a communicator; 0: as operations
  std::int64_t ranks_per_root = 128;
};

class RingletBackend final : public c10d::Backend {
 public:
  RingletBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                 c10::intrusive_ptr<BackendOptions> options, std::string name = "ringlet")

      : Backend(rank, size), store_(store), options_(std::move(options)), name_(std::move(name)) {
    TORCH_CHECK_VALUE(size >= 1 && rank >= 0 && rank < size, "ringlet: rank ", rank,
                      " is not between 0 and size - 1 = ", size - 1);
    TORCH_CHECK_VALUE(options_->ranks_per_root >= 1, "ringlet: ranks_per_root is below 1");
    // The members are else told later, by reconfigure.
    if (!EnablesReconfigure(*options_)) {
      MakeGroup(store,
                options_->init_timeout.count() > 0 ? options_->init_timeout : options_->timeout);
    }
    Living::Add(this);
  }

  ~RingletBackend() override {
    Living::Remove(this);
    End(false);
  }

  const std::string getBackendName() const override { return name_; }
  c10::intrusive_ptr<Backend::Options> getBackendOptions() RINGLET_OVERRIDE_SINCE_2_9 {
    return options_;
  }
  const c10::intrusive_ptr<BackendOptions>& options() const { return options_; }
  bool supportsSplitting() const override { return true; }
  bool supportsCoalescing() const override { return true; }
  void setTimeout(std::chrono::milliseconds timeout) RINGLET_OVERRIDE_SINCE_2_9 {
    options_->timeout = timeout;
    if (!AwaitsMembers()) Alive().set_timeout(timeout);
  }
  /// PyTorch's since 2.15.
  void addEphemeralTimeout(const std::chrono::milliseconds& time) { timeout_extensions_.Add(time); }
  /// PyTorch's since 2.12: bytes of this host's memory that the group's operations use.
  std::unordered_map<std::string, std::uint64_t> getMemoryStats() {
    const auto use = Alive().memory_use();
    return {{"working_bytes", use.working},
            {"shared_bytes", use.shared},
            {"reachable_tensor_bytes", TensorMemory::The().bytes()}};
  }
  /// Of memory that the other ranks of the host can reach: DDP's gradients lie in it, and FSDP2's
  /// parameters if it is asked to.
  at::Tensor allocateTensor(long size, at::TensorOptions options) override {
    return ReachableTensor(size, options);
  }
  bool supportsTensorAlloc(c10::DeviceIndex /*device*/) override { return true; }
  void setSequenceNumberForGroup() override {}
  std::uint64_t getSequenceNumberForGroup() override { return sequence_; }
  c10d::ErrorType getError() override { return last_error_; }

  void abort() override {
    if (!group_ || !group_->fork_guard().IsHere()) return;
    abort_hooks_.Run();
    const std::string why = fmt::format("rank {} of the process group aborted it", rank_);
    group_->Abort(why);
    p2p_queue_->Abort(why);
  }
  /// A signal's handler that runs while this thread waits in an operation aborts the group; it ends
  /// with the program, since the operation still needs it.
  void shutdown() override {
    if (!comm::LongWait::IsLooking()) return End(false);
    if (ended_.exchange(true)) return;
    ends_later_ = true;
    Living::Keep(c10::intrusive_ptr<RingletBackend>::unsafe_reclaim_from_nonowning(this));
    abort();
  }

#ifdef C10D_BACKEND_HAS_HOOKS
  // PyTorch's flight recorder is among those that register them.
  void registerAbortHook(std::int64_t number, c10d::AbortHook hook) override {
    CheckNew(abort_hooks_.Add(number, std::move(hook)), number);
  }
  void unregisterAbortHook(std::int64_t number) override {
    abort_hooks_.Remove(number);
  }
#endif
#ifdef RINGLET_TORCH_HAS_COMPLETION_HOOKS
  bool supportsAbortHooks() const override {
    return true;
  }
  bool supportsCompletionHooks() const override {
    return true;
  }
  void registerCompletionHook(std::int64_t number, c10d::CompletionHook hook) override {
    const auto call = [hook = std::move(hook)](std::uint64_t key) {
      hook({.completionKey = key, .duration_ms = std::nullopt});
    };
    CheckNew(completion_hooks_.Add(number, call), number);
  }
  void unregisterCompletionHook(std::int64_t number) override {
    completion_hooks_.Remove(number);
  }
#endif

  /// Ends the threads and leaves the communicators; later operations are refused. Python's lock is
  /// given up meanwhile, for those who need it to come to their end.
  /// \param at_exit  do not wait for others: cut off what has not ended
  void End(bool at_exit) {
    if (!group_) return;
    if (!group_->fork_guard().IsHere()) {
      // The child of a fork has copies of our objects, but not their threads: it leaves them alone.
      static_cast<void>(p2p_queue_.release());
      static_cast<void>(group_.release());
      return;
    }
    std::optional<py::gil_scoped_release> no_gil;
    if (Py_IsInitialized() && PyGILState_Check()) no_gil.emplace();
    // From here on callbacks that still run are refused, and so leave mail and group alone.
    if (ended_.exchange(true) && !ends_later_.exchange(false)) return;
    if (at_exit) AbortIfBusy();
    EndGroup();
  }

#ifdef C10D_BACKEND_HAS_WINDOW
  bool supportsWindow() const override {
    return true;
  }
  c10::intrusive_ptr<c10d::Window> new_window(
      const std::optional<at::Tensor>& tensor) override;  // in window.hpp
#endif

#ifdef C10D_BACKEND_HAS_RECONFIGURE
  bool supportsReconfigure() const override {
    return true;
  }
  c10d::ReconfigureHandle get_reconfigure_handle() const override {
    return Handle().Text();
  }

  /// The group of the ranks with these handles, in their order, in the place of the one before;
  /// called by all of them, with the same number. They meet in the store that the group was made
  /// with. Operations that run are aborted. Blocks until the new group stands.
  WorkPointer reconfigure(const c10d::ReconfigureOptions& opts) override {
    const std::vector<std::string> handles = InOrder(opts.handles);
    const auto seat = SeatAmong(handles, Handle());
    TORCH_CHECK_VALUE(seat.ok(), "ringlet: reconfigure: ", seat.error().message);
    TORCH_CHECK(!ended_, "ringlet: reconfigure: the process group was shut down");
    TORCH_CHECK(numbers_.insert(opts.uuid).second, "ringlet: reconfigure: the uuid ", opts.uuid,
                " was already used; take a fresh one each time");
    std::optional<py::gil_scoped_release> no_gil;
    if (Py_IsInitialized() && PyGILState_Check()) no_gil.emplace();
    const auto store =
        c10::make_intrusive<c10d::PrefixStore>(fmt::format("members{}", opts.uuid), store_);
    AgreeOnMembers(*store, opts.uuid, handles);
    if (group_) {
      group_->Abort(fmt::format("rank {} forms it anew", rank_));
      p2p_queue_->Abort("the process group is formed anew");
      EndGroup();
    }
    ++generation_;
    rank_ = static_cast<int>(seat->rank);
    size_ = static_cast<int>(seat->size);
    sequence_ = barriers_ = shrinks_ = 0;
    last_error_ = c10d::ErrorType::SUCCESS;
    MakeGroup(store, opts.timeout.value_or(options_->timeout));
    FormNow();
    auto work = MakeWork(Named(c10d::OpType::UNKNOWN, "reconfigure", NoOptions(), {}, {}));
    work->Complete(nullptr);
    return work;
  }
#endif

  /// Cuts off what runs or waits for its turn.
  void AbortIfBusy() {
    if (group_ && group_->fork_guard().IsHere() && group_->serial_executor().IsBusy()) abort();
  }

  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override {
    TORCH_CHECK(tensors.size() == 1, "ringlet: all_reduce takes one tensor, not ", tensors.size());
    if (tensors.front().layout() == at::kSparse) return allreduce_sparse(tensors, opts);
    return ReduceAll(OnlyOne(tensors, "all_reduce"), opts, c10d::OpType::ALLREDUCE);
  }

  WorkPointer allreduce_coalesced(Tensors& tensors,
                                  const c10d::AllreduceCoalescedOptions& opts) override try {
    TORCH_CHECK(!tensors.empty(), "ringlet: all_reduce_coalesced takes at least one tensor");
    CheckAlike(tensors, tensors.front(), "all_reduce_coalesced");
    CheckWritten(tensors, "all_reduce_coalesced");
    const Reduction reduction(tensors.front(), opts.reduceOp);
    return Launch(Named(c10d::OpType::ALLREDUCE_COALESCED, "all_reduce", opts, tensors, tensors),
                  [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
                    const at::Tensor joint = Joined(tensors);
                    RINGLET_TRY(AllReduce(communicator, joint, joint, reduction, timeout));
                    Share(joint, tensors);
                    return Ok();
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override try {
    TORCH_CHECK(tensors.size() == 1 && tensors.front().layout() == at::kSparse,
                "ringlet: all_reduce of sparse tensors takes one of them");
    TORCH_CHECK(opts.reduceOp == c10d::ReduceOp::SUM,
                "ringlet: sparse tensors are reduced by SUM only");
    return Launch(
        Named(c10d::OpType::_ALLREDUCE_SPARSE, "sparse_all_reduce", opts, tensors, tensors),
        [tensor = tensors.front(), size = size_](comm::Communicator& communicator,
                                                 Milliseconds timeout) mutable -> Status {
          return SumSparse(communicator, tensor, size, timeout);
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override try {
    const at::Tensor tensor = OnlyOne(tensors, "broadcast");
    CheckRank(opts.rootRank, "broadcast");
    const bool writes = rank_ != opts.rootRank;
    if (writes) CheckWritten(tensor, "broadcast");
    return Launch(Named(c10d::OpType::BROADCAST, "broadcast", opts, tensors, tensors),
                  [=, root = opts.rootRank](comm::Communicator& communicator,
                                            Milliseconds timeout) -> Status {
                    const at::Tensor dense = Dense(tensor);
                    RINGLET_TRY(Broadcast(communicator, dense, root, timeout));
                    if (writes) Deliver(dense, tensor);
                    return Ok();
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override try {
    const at::Tensor tensor = OnlyOne(tensors, "reduce");
    CheckRank(opts.rootRank, "reduce");
    if (rank_ == opts.rootRank) CheckWritten(tensor, "reduce");
    const Reduction reduction(tensor, opts.reduceOp);
    return Launch(Named(c10d::OpType::REDUCE, "reduce", opts, tensors, tensors),
                  [=, rank = rank_, root = opts.rootRank](comm::Communicator& communicator,
                                                          Milliseconds timeout) -> Status {
                    const at::Tensor dense = Dense(tensor);
                    RINGLET_TRY(Reduce(communicator, dense, reduction, root, timeout));
                    if (rank == root) Deliver(dense, tensor);
                    return Ok();
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                        const c10d::AllgatherOptions& opts) override try {
    const at::Tensor input = OnlyOne(inputs, "all_gather");
    const Tensors targets = ListOfAll(outputs, input, "all_gather");
    CheckWritten(targets, "all_gather");
    return Launch(Named(c10d::OpType::ALLGATHER, "all_gather", opts, inputs, targets),
                  [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
                    return GatherToLists(communicator, input, targets, timeout);
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer _allgather_base(at::Tensor& output, at::Tensor& input,
                              const c10d::AllgatherOptions& opts) override try {
    CheckTensor(output, "all_gather_into_tensor");
    CheckWritten(output, "all_gather_into_tensor");
    CheckAlike({input}, output, "all_gather_into_tensor");
    CheckTimes(output, input, "all_gather_into_tensor");
    return Launch(
        Named(c10d::OpType::_ALLGATHER_BASE, "_all_gather_base", opts, input, output),
        [output, input](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          return GatherInto(communicator, input, output, timeout);
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                  const c10d::AllgatherOptions& opts) override try {
    TORCH_CHECK(outputs.size() == static_cast<std::size_t>(size_),
                "ringlet: all_gather_coalesced needs a list of outputs for each of the ", size_,
                " ranks");
    Tensors all;
    for (const Tensors& list : outputs) {
      TORCH_CHECK(list.size() == inputs.size(),
                  "ringlet: all_gather_coalesced needs as many outputs for each rank as inputs");
      all.insert(all.end(), list.begin(), list.end());
    }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (const Tensors& list : outputs) CheckAlike({list[i]}, inputs[i], "all_gather_coalesced");
    CheckAlike(inputs, inputs.front(), "all_gather_coalesced");
    CheckWritten(all, "all_gather_coalesced");
    return Launch(
        Named(c10d::OpType::ALLGATHER_COALESCED, "all_gather", opts, inputs, all),
        [outputs, inputs](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          for (std::size_t i = 0; i < inputs.size(); ++i) {
            Tensors targets;
            for (const Tensors& list : outputs) targets.push_back(list[i]);
            RINGLET_TRY(GatherToLists(communicator, inputs[i], targets, timeout));
          }
          return Ok();
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::AllgatherOptions& opts) override try {
    CheckPairs(outputs, inputs, "all_gather_into_tensor_coalesced");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      CheckTimes(outputs[i], inputs[i], "all_gather_into_tensor_coalesced");
    return Launch(
        Named(c10d::OpType::COALESCED, "all_gather", opts, inputs, outputs),
        [outputs, inputs](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          for (std::size_t i = 0; i < inputs.size(); ++i)
            RINGLET_TRY(GatherInto(communicator, inputs[i], outputs[i], timeout));
          return Ok();
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer gather(std::vector<Tensors>& outputs, Tensors& inputs,
                     const c10d::GatherOptions& opts) override try {
    const at::Tensor input = OnlyOne(inputs, "gather");
    CheckRank(opts.rootRank, "gather");
    const bool is_root = rank_ == opts.rootRank;
    TORCH_CHECK(is_root || outputs.empty() || outputs.front().empty(),
                "ringlet: only the root of gather has outputs");
    const Tensors targets = is_root ? ListOfAll(outputs, input, "gather") : Tensors();
    if (is_root) CheckSame(targets, input, "gather");
    CheckWritten(targets, "gather");
    return Launch(Named(c10d::OpType::GATHER, "gather", opts, inputs, targets),
                  [=, root = opts.rootRank](comm::Communicator& communicator,
                                            Milliseconds timeout) -> Status {
                    const at::Tensor room = targets.empty() ? at::Tensor() : JointRoom(targets);
                    RINGLET_TRY(Gather(communicator, Dense(input), room, root, timeout));
                    if (room.defined()) Share(room, targets);
                    return Ok();
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  /// PyTorch's since 2.12, in 2.15 by the name gather_single, too.
  WorkPointer gather_into_tensor(at::Tensor& output, at::Tensor& input,
                                 const c10d::GatherOptions& opts) try {
    CheckTensor(input, "gather_into_tensor");
    CheckRank(opts.rootRank, "gather_into_tensor");
    const bool is_root = rank_ == opts.rootRank;
    if (is_root) {
      CheckWritten(output, "gather_into_tensor");
      CheckAlike({output}, input, "gather_into_tensor");
      CheckTimes(output, input, "gather_into_tensor");
    }
    const at::Tensor target = is_root ? output : at::Tensor();
    return Launch(Named(c10d::OpType::GATHER, "gather", opts, input,
                        is_root ? at::TensorList(target) : at::TensorList()),
                  [input, target, root = opts.rootRank](comm::Communicator& communicator,
                                                        Milliseconds timeout) -> Status {
                    const at::Tensor room = target.defined() ? Room(target) : target;
                    RINGLET_TRY(Gather(communicator, Dense(input), room, root, timeout));
                    if (room.defined()) Deliver(room, target);
                    return Ok();
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                      const c10d::ScatterOptions& opts) override try {
    const at::Tensor output = OnlyOne(outputs, "scatter");
    CheckRank(opts.rootRank, "scatter");
    const bool is_root = rank_ == opts.rootRank;
    TORCH_CHECK(is_root || inputs.empty() || inputs.front().empty(),
                "ringlet: only the root of scatter has inputs");
    const Tensors sources = is_root ? ListOfAll(inputs, output, "scatter") : Tensors();
    if (is_root) CheckSame(sources, output, "scatter");
    CheckWritten(output, "scatter");
    return Launch(Named(c10d::OpType::SCATTER, "scatter", opts, sources, outputs),
                  [=, root = opts.rootRank](comm::Communicator& communicator,
                                            Milliseconds timeout) -> Status {
                    const at::Tensor joint = sources.empty() ? at::Tensor() : Joined(sources);
                    const at::Tensor room = Room(output);
                    RINGLET_TRY(Scatter(communicator, joint, room, root, timeout));
                    Deliver(room, output);
                    return Ok();
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                             const c10d::ReduceScatterOptions& opts) override try {
    const at::Tensor output = OnlyOne(outputs, "reduce_scatter");
    const Tensors sources = ListOfAll(inputs, output, "reduce_scatter");
    const Reduction reduction(output, opts.reduceOp);
    CheckWritten(output, "reduce_scatter");
    return Launch(
        Named(c10d::OpType::REDUCE_SCATTER, "reduce_scatter", opts, sources, outputs),
        [=, rank = rank_](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          return ReduceLists(communicator, sources, output, rank, reduction, timeout);
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                   const c10d::ReduceScatterOptions& opts) override try {
    CheckTensor(output, "reduce_scatter_tensor");
    CheckWritten(output, "reduce_scatter_tensor");
    CheckAlike({input}, output, "reduce_scatter_tensor");
    CheckTimes(input, output, "reduce_scatter_tensor");
    const Reduction reduction(output, opts.reduceOp);
    return Launch(
        Named(c10d::OpType::_REDUCE_SCATTER_BASE, "_reduce_scatter_base", opts, input, output),
        [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          return ReduceInto(communicator, input, output, reduction, timeout);
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::ReduceScatterOptions& opts) override try {
    CheckPairs(outputs, inputs, "reduce_scatter_tensor_coalesced");
    std::vector<Reduction> reductions;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CheckTimes(inputs[i], outputs[i], "reduce_scatter_tensor_coalesced");
      reductions.emplace_back(outputs[i], opts.reduceOp);
    }
    return Launch(
        Named(ReduceScatterCoalesced(), "reduce_scatter", opts, inputs, outputs),
        [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          for (std::size_t i = 0; i < inputs.size(); ++i)
            RINGLET_TRY(ReduceInto(communicator, inputs[i], outputs[i], reductions[i], timeout));
          return Ok();
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer alltoall_base(at::Tensor& output, at::Tensor& input,
                            std::vector<std::int64_t>& output_splits,
                            std::vector<std::int64_t>& input_splits,
                            const c10d::AllToAllOptions& opts) override try {
    CheckTensor(output, "all_to_all_single");
    CheckWritten(output, "all_to_all_single");
    CheckAlike({input}, output, "all_to_all_single");
    c10d::checkSplitSizes(input_splits, input, size_);
    c10d::checkSplitSizes(output_splits, output, size_);
    const Splits sends(input, input_splits, size_), receives(output, output_splits, size_);
    CheckOwnBlock(sends, receives);
    return Launch(
        Named(c10d::OpType::ALLTOALL_BASE, "all_to_all", opts, input, output),
        [input, output, sends, receives](comm::Communicator& communicator,
                                         Milliseconds timeout) -> Status {
          const at::Tensor room = Room(output);
          RINGLET_TRY(AllToAll(communicator, Dense(input), sends, room, receives, timeout));
          Deliver(room, output);
          return Ok();
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer alltoall(Tensors& outputs, Tensors& inputs,
                       const c10d::AllToAllOptions& opts) override try {
    TORCH_CHECK(
        outputs.size() == static_cast<std::size_t>(size_) && inputs.size() == outputs.size(),
        "ringlet: all_to_all takes an input and an output for each of the ", size_, " ranks, not ",
        inputs.size(), " and ", outputs.size());
    CheckAlike(inputs, inputs.front(), "all_to_all");
    CheckAlike(outputs, inputs.front(), "all_to_all");
    CheckWritten(outputs, "all_to_all");
    CheckOwnBlock(Splits(inputs), Splits(outputs));
    return Launch(
        Named(c10d::OpType::ALLTOALL, "all_to_all", opts, inputs, outputs),
        [inputs, outputs](comm::Communicator& communicator, Milliseconds timeout) -> Status {
          const at::Tensor room = JointRoom(outputs);
          RINGLET_TRY(AllToAll(communicator, Joined(inputs), Splits(inputs), room, Splits(outputs),
                               timeout));
          Share(room, outputs);
          return Ok();
        });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer barrier(const c10d::BarrierOptions& opts) override {
    return Launch(Named(c10d::OpType::BARRIER, "barrier", opts, {}, {}),
                  [](comm::Communicator& communicator, Milliseconds timeout) -> Status {
                    return Barrier(communicator, timeout);
                  });
  }

  WorkPointer send(Tensors& tensors, int to, int tag) override {
    const at::Tensor dense = Dense(OnlyOne(tensors, "send"));
    CheckPeer(to, "send");
    Alive();
    auto work = MakeWork(Named(c10d::OpType::SEND, "send", NoOptions(), tensors, {}));
    p2p_queue_->Send(
        static_cast<std::uint32_t>(to), tag, BytesOf(dense),
        [this, work, dense](Status status) { EndWork(*work, "send", status, group_->helpers()); });
    return Coalesce(work);
  }

  WorkPointer recv(Tensors& tensors, int from, int tag) override {
    CheckPeer(from, "recv");
    return ReceiveFrom(tensors, static_cast<std::uint32_t>(from), tag, c10d::OpType::RECV);
  }

  WorkPointer recvAnysource(Tensors& tensors, int tag) override {
    return ReceiveFrom(tensors, std::nullopt, tag, c10d::OpType::RECVANYSOURCE);
  }

  void startCoalescing() override {
    TORCH_CHECK(!coalescing_, "ringlet: coalescing has begun already");
    coalescing_.emplace();
  }
  WorkPointer endCoalescing() override {
    TORCH_CHECK(coalescing_, "ringlet: coalescing ends that has not begun");
    auto parts = std::move(*coalescing_);
    coalescing_.reset();
    return c10::make_intrusive<JointWork>(rank_, std::move(parts));
  }

  /// Through the store alone: it says who is missing even when the communicator does not work.
  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override {
    Group& group = Alive();
    const Muster muster{
        .rank = static_cast<std::uint32_t>(rank_),
        .size = static_cast<std::uint32_t>(size_),
        .number = barriers_++,
        .timeout = opts.timeout == c10d::kUnsetTimeout ? group.timeout() : opts.timeout,
        .wait_for_all = wait_all_ranks};
    const Interrupts interrupts;
    const Status status = HoldMuster(group.store(), group.presence(), muster, group.ending());
    interrupts.Rethrow();
    TORCH_CHECK_WITH(DistBackendError, status.ok(), "ringlet: ", status.error().message);
  }

  /// A group of some ranks, called by those. If this one has a communicator, the new one comes from
  /// its connections, else from the store when it is needed.
  c10::intrusive_ptr<Backend> split(
      const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
      const c10::intrusive_ptr<Backend::Options>& opts) RINGLET_OVERRIDE_SINCE_2_9 {
    const auto mine = std::ranges::find(ranks, rank_);
    if (mine == ranks.end()) return nullptr;
    auto options = c10::make_intrusive<BackendOptions>(opts ? opts->timeout : options_->timeout);
    options->init_timeout = options_->init_timeout;
    options->ranks_per_root = options_->ranks_per_root;
    if (opts) {
      CopyGroup<Backend::Options>(*opts, *options);
    }
    auto child =
        c10::make_intrusive<RingletBackend>(store, static_cast<int>(mine - ranks.begin()),
                                            static_cast<int>(ranks.size()), options, name_);
    if (Alive().is_formed() && std::ranges::is_sorted(ranks)) {
      const Interrupts interrupts([&] { AbortInterrupted(*group_); });
      const Status status =
          group_->Beget(*child->group_, std::vector<std::uint32_t>(ranks.begin(), ranks.end()));
      interrupts.Rethrow();
      TORCH_CHECK_WITH(DistBackendError, status.ok(),
                       "ringlet: splitting the process group: ", status.error().message);
    }
    return child;
  }

  /// A group of ranks of several, which meet in `store`, called by all of them.
  c10::intrusive_ptr<Backend> merge(const c10::intrusive_ptr<c10d::Store>& store,
                                    const c10::intrusive_ptr<Backend::Options>& opts,
                                    const int& rank, const int& size) RINGLET_OVERRIDE_SINCE_2_9 {
    auto options = c10::make_intrusive<BackendOptions>(opts ? opts->timeout : options_->timeout);
    options->init_timeout = options_->init_timeout;
    options->ranks_per_root = options_->ranks_per_root;
    if (opts) CopyGroup<Backend::Options>(*opts, *options);
    return c10::make_intrusive<RingletBackend>(store, rank, size, options, name_);
  }

  /// A group of those who are left, called by them; the others may be gone.
  c10::intrusive_ptr<Backend> shrink(const std::vector<std::int64_t>& excluded, int /*flags*/,
                                     const c10::intrusive_ptr<Backend::Options>& opts)
      RINGLET_OVERRIDE_SINCE_2_9 {
    std::vector<int> left;
    for (int rank = 0; rank < size_; ++rank)
      if (std::ranges::find(excluded, rank) == excluded.end()) left.push_back(rank);
    TORCH_CHECK(std::ranges::find(left, rank_) != left.end(),
                "ringlet: the rank that calls shrink cannot be left out itself");
    const auto store =
        c10::make_intrusive<c10d::PrefixStore>(fmt::format("shrink{}/", shrinks_++), store_);
    return split(store, left, opts);
  }
  bool supportsShrinking() const RINGLET_OVERRIDE_SINCE_2_9 {
    return true;
  }

  using Run = std::function<Status(comm::Communicator&, Milliseconds timeout)>;

  /// Runs an operation on this thread, in its turn, for a caller that waits for it and needs no
  /// Work. `check` looks at the arguments first and gives what there is to run; what it throws is
  /// told to ranks that have begun the call. \param tensors  what the operation uses
  template <typename Check>
  void RunNow(const char* operation, at::TensorList tensors, const Check& check) {
    Group& group = Alive();
    TORCH_CHECK(!group.serial_executor().IsInside(), "ringlet: ", operation,
                " was called from inside an operation of its group, which it would wait for");
    Run run;
    try {
      run = check();
    } catch (const c10::Error& error) {
      Refused(error);
      throw;
    }
    ++sequence_;
    const TurnTask task{operation, ReachableAmong(tensors), group.timeout()};
    const std::uint64_t call = group.NextCall();
    Outcome outcome;
    const auto in_turn = [&] { outcome = Attempt(group, call, run, task); };
    const Interrupts interrupts([&] { AbortInterrupted(group); });
    group.serial_executor().RunHere(std::ref(in_turn));
    interrupts.Rethrow();
    if (!outcome.ok()) std::rethrow_exception(FailureHere(operation, outcome));
  }

  /// Other parts of the front end ask for these.
  std::chrono::milliseconds timeout() const {
    return Alive().timeout();
  }
  std::stop_token ending() const {
    return Alive().ending();
  }
  /// The communicator, also when it has failed; null: it never was, or is not any more. In a turn.
  void InTurn(const std::function<void(comm::Communicator*)>& act) {
    if (!group_ || ended_ || !group_->fork_guard().IsHere()) return;
    group_->serial_executor().RunHere([&] { act(group_->formed()); });
  }

  /// An operation in which this rank's peers need not take part, in the order of its other ones.
  /// \param run  keeps what it needs of `tensors`
  WorkPointer LaunchAlone(const char* name, at::TensorList tensors, Milliseconds timeout,
                          bool async, Run run) {
    OneSidedOptions options{timeout, async};
    return Launch(Named(c10d::OpType::UNKNOWN, name, options, tensors, {}), std::move(run), false);
  }

  void CheckRank(std::int64_t rank, const char* operation) const {
    TORCH_CHECK(rank >= 0 && rank < size_, "ringlet: ", operation, ": the root rank ", rank,
                " is not between 0 and ", size_ - 1);
  }
  void CheckTimes(const at::Tensor& large, const at::Tensor& small, const char* operation) const {
    TORCH_CHECK(large.numel() == small.numel() * size_, "ringlet: ", operation, ": ", large.numel(),
                " elements are not ", size_, " times ", small.numel());
  }
  /// The block of a rank for itself, on which no other rank has a say.
  void CheckOwnBlock(const Splits& sends, const Splits& receives) const {
    const std::int64_t sent = sends.Elements(rank_), received = receives.Elements(rank_);
    TORCH_CHECK(sent == received, "ringlet: all_to_all: rank ", rank_, " sends ", sent,
                " elements to itself and expects ", received,
                ": its input and output sizes for its own rank must be equal");
  }

  /// All backends of this process that have not been destroyed.
  struct Living {
    std::mutex mutex;
    std::set<RingletBackend*> backends;
    RingletBackend* of_default = nullptr;  // of PyTorch's default group
    std::vector<c10::intrusive_ptr<RingletBackend>> kept;

    static Living& The() {
      static Living& living = *new Living;  // never destroyed: backends may outlive main's statics
      return living;
    }
    static void Add(RingletBackend* backend) {
      const std::lock_guard lock(The().mutex);
      The().backends.insert(backend);
    }
    static void Remove(RingletBackend* backend) {
      const std::lock_guard lock(The().mutex);
      The().backends.erase(backend);
      if (The().of_default == backend) The().of_default = nullptr;
    }
    static void Keep(c10::intrusive_ptr<RingletBackend> backend) {
      const std::lock_guard lock(The().mutex);
      The().kept.push_back(std::move(backend));
    }
    static void SetDefault(RingletBackend* backend) {
      const std::lock_guard lock(The().mutex);
      The().of_default = backend;
    }
    static std::optional<Milliseconds> TimeoutOfDefault() {
      const std::lock_guard lock(The().mutex);
      return The().of_default ? std::optional(The().of_default->options_->timeout) : std::nullopt;
    }
  };

 private:
  /// Null where there is nowhere to listen: then this rank's end is not seen before anything
  /// connects it to others.
  static std::shared_ptr<comm::Beacon> Beacon() {
    auto beacon = SharedBeacon();
    return beacon.ok() ? *beacon : nullptr;
  }

  struct NoOptions {
    Milliseconds timeout = c10d::kUnsetTimeout;
  };
  struct OneSidedOptions {
    Milliseconds timeout;
    bool asyncOp;
  };
  /// The arguments of an operation. Refers to tensors of the call.
  struct Name {
    c10d::OpType type;
    const char* name;
    at::TensorList inputs;
    at::TensorList outputs;
    Milliseconds timeout;
    bool async;
    std::string detail = {};
  };

  /// \param store  of this group alone
  void MakeGroup(const c10::intrusive_ptr<c10d::Store>& store, Milliseconds init_timeout) {
    const auto process = ProcessNumber();
    TORCH_CHECK(process.ok(), "ringlet: ", process.error().message);
    const std::string given = GroupNameOf(*options_);
    group_ = std::make_unique<Group>(
        Group::Options{.rank = static_cast<std::uint32_t>(rank_),
                       .size = static_cast<std::uint32_t>(size_),
                       .name = given.empty() ? name_ : given,
                       .timeout = options_->timeout,
                       .init_timeout = init_timeout,
                       .ranks_per_root = static_cast<std::uint32_t>(options_->ranks_per_root),
                       .beacon = size_ > 1 ? Beacon() : nullptr,
                       .process = *process},
        std::make_shared<TorchStore>(store));
    p2p_queue_ = std::make_unique<P2pQueue>(*group_, LinesWithin(init_timeout));
    const Status announced = size_ > 1 ? group_->Announce() : Ok();
    TORCH_CHECK_WITH(DistBackendError, announced.ok(), "ringlet: making the process group ", name_,
                     ": ", announced.error().message);
  }

  void EndGroup() {
    if (size_ > 1) group_->Leave();
    p2p_queue_->Close();
    group_->Close();
    p2p_queue_ = nullptr;
    group_ = nullptr;
  }

#ifdef C10D_BACKEND_HAS_RECONFIGURE
  static std::vector<std::string> InOrder(
      const decltype(c10d::ReconfigureOptions::handles)& given) {
    if (const auto* ordered = std::get_if<std::vector<std::string>>(&given)) return *ordered;
    const auto& set = std::get<std::unordered_set<std::string>>(given);
    std::vector<std::string> handles(set.begin(), set.end());
    std::ranges::sort(handles);
    return handles;
  }

  /// The first rank that comes says who the members are, and all others must say the same.
  static void AgreeOnMembers(c10d::Store& store, std::int64_t uuid,
                             const std::vector<std::string>& handles) {
    const std::string mine = fmt::format("{}", fmt::join(handles, " "));
    const auto first = [&] {
      const std::vector<std::uint8_t> text(mine.begin(), mine.end());
      const auto found = store.compareSet("members", {}, text);
      return std::string(found.begin(), found.end());
    }();
    TORCH_CHECK(first == mine, "ringlet: reconfigure: the uuid ", uuid,
                " was already used for other members, ", first, ", and not for ", mine);
  }

  /// Connects the ranks, which other groups do when something needs it.
  void FormNow() {
    Status status = Ok();
    const Interrupts interrupts([&] { AbortInterrupted(*group_); });
    group_->serial_executor().RunHere([&] {
      const auto main = group_->Main(group_->NextCall());
      if (!main.ok()) status = main.error();
    });
    interrupts.Rethrow();
    if (!status.ok()) std::rethrow_exception(Failure("reconfigure", status.error()));
  }
#endif

  /// The first number of the process and the count of groups: no other rank has both.
  MemberHandle Handle() const {
    static std::atomic<std::uint64_t> count{0};
    if (member_.empty()) {
      const auto process = SharedProcess();
      TORCH_CHECK(process.ok(), "ringlet: ", process.error().message);
      member_ = fmt::format("{:016x}.{}", (*process)->process_hash(), ++count);
    }
    return {member_, generation_};
  }

  /// Whether it was made without members, and has none yet.
  bool AwaitsMembers() const {
    return EnablesReconfigure(*options_) && generation_ == 0;
  }

  /// The group, as long as it may be used.
  Group& Alive() const {
    TORCH_CHECK(!AwaitsMembers() || ended_, "ringlet: the process group ", name_,
                " has no members yet: it was made with enable_reconfigure, so call reconfigure "
                "first");
    TORCH_CHECK_WITH(DistBackendError, group_ && !ended_, "ringlet: the process group ", name_,
                     " was shut down: Connection closed by this rank");
    TORCH_CHECK_WITH(DistBackendError, group_->fork_guard().IsHere(),
                     "ringlet: this process was forked from the one that made the process group, "
                     "and cannot use it; make the group in the child");
    return *group_;
  }

  template <typename Opts>
  Name Named(c10d::OpType type, const char* name, const Opts& opts, at::TensorList inputs,
             at::TensorList outputs) const {
    bool async = true;
    if constexpr (requires { opts.asyncOp; }) async = opts.asyncOp;
    const auto timeout = opts.timeout == c10d::kUnsetTimeout ? Alive().timeout() : opts.timeout;
    return {type, name, inputs, outputs, timeout, async, ""};
  }

  c10::intrusive_ptr<GroupWork> MakeWork(const Name& name) {
    const std::uint64_t sequence = sequence_++;
    return MakeWork(name, sequence, name.timeout + timeout_extensions_.Begin(sequence));
  }
  c10::intrusive_ptr<GroupWork> MakeWork(const Name& name, std::uint64_t sequence,
                                         Milliseconds timeout) {
    return c10::make_intrusive<GroupWork>(
        GroupWork::What{.rank = rank_,
                        .type = name.type,
                        .title = fmt::format("{}:{}", name_, name.name),
                        .inputs = name.inputs,
                        .outputs = name.outputs.vec(),
                        .sequence = sequence,
                        .timeout = timeout,
                        .detail = name.detail});
  }

  /// Whether something of PyTorch looks at each Work, also where its caller does not: profilers,
  /// the flight recorder, and the registry of torch.compile.
  bool WorksAreSeen() const {
    return at::hasCallbacks() || !completion_hooks_.empty() ||
           c10d::allow_inflight_collective_as_graph_input();
  }

  WorkPointer Coalesce(WorkPointer work) {
    if (coalescing_) coalescing_->push_back(work);
    return work;
  }

  /// Runs an operation here, if its caller waits for it, else beside. \param counts  the other
  /// ranks call it, too \return null: it ran here and has succeeded, as PyTorch's own backends give
  template <typename Body>
  WorkPointer Launch(const Name& name, Body body, bool counts = true) {
    TORCH_CHECK(!Alive().serial_executor().IsInside(), "ringlet: ", name.name,
                " was called from inside an operation of its group, which it would wait for");
    if (name.async || coalescing_) return LaunchBeside(name, std::move(body), counts);
    return LaunchHere(name, std::ref(body), counts);
  }

  WorkPointer LaunchHere(const Name& name, const Run& run, bool counts) {
    Group& group = Alive();
    const std::uint64_t sequence = sequence_++;
    const TurnTask task{name.name, ReachableAmong(name),
                        name.timeout + timeout_extensions_.Begin(sequence)};
    c10::intrusive_ptr<GroupWork> work;
    // Callers of a window hold the Work of what a rank does alone.
    if (WorksAreSeen() || !counts) work = MakeWork(name, sequence, task.timeout);
    const std::uint64_t call = counts ? group.NextCall() : 0;
    Outcome outcome;
    const auto in_turn = [&] {
      outcome = Attempt(group, call, run, task);
      if (outcome.ok() && work) Complete(*work, nullptr, nullptr);
    };
    const Interrupts interrupts([&] { AbortInterrupted(group); });
    group.serial_executor().RunHere(std::ref(in_turn));
    if (auto exception = interrupts.exception()) {
      if (work && !outcome.ok()) Complete(*work, exception, nullptr);
      timeout_extensions_.End(sequence);
      std::rethrow_exception(exception);
    }
    if (outcome.ok()) {
      timeout_extensions_.End(sequence);
      return work;
    }
    if (!work) work = MakeWork(name, sequence, task.timeout);
    Complete(*work, FailureHere(name.name, outcome), nullptr);
    return work;
  }

  WorkPointer LaunchBeside(const Name& name, Run run, bool counts) {
    Group& group = Alive();
    auto work = MakeWork(name);
    const TurnTask task{name.name, ReachableAmong(name), work->getTimeout(),
                        comm::Communicator::EnqueuedNow()};
    const std::uint64_t call = counts ? group.NextCall() : 0;
    work->set_job(group.serial_executor().Submit(
                      [this, &group, call, work, run = std::move(run), task, line = LineToKeep(),
                       state = at::ThreadLocalState()](auto& turn) mutable {
                        const at::ThreadLocalStateGuard as_caller(state);
                        const Interrupts interrupts([&] { AbortInterrupted(group); });
                        const Outcome outcome = Attempt(group, call, run, task);
                        auto failure = interrupts.exception();
                        if (!failure && !outcome.ok())
                          failure = FailureBeside(line, task.operation, outcome);
                        Complete(*work, std::move(failure), &turn);
                      }),
                  group.fork_guard());
    return Coalesce(work);
  }

  /// The memory of tensors that other ranks may reach; mostly none.
  static std::vector<View> ReachableAmong(at::TensorList tensors, at::TensorList further = {}) {
    std::vector<View> reachable;
    for (const at::TensorList list : {tensors, further})
      for (const at::Tensor& tensor : list) {
        if (tensor.layout() != at::kStrided || !tensor.is_contiguous()) continue;
        if (TensorMemory::The().Has(BytesOf(tensor))) reachable.push_back(BytesOf(tensor));
      }
    return reachable;
  }
  static std::vector<View> ReachableAmong(const Name& name) {
    return ReachableAmong(name.inputs, name.outputs);
  }

  /// A signal's handler raised an exception while this rank was in an operation: the other ranks
  /// would wait for the rest of it.
  void AbortInterrupted(Group& group) const {
    group.Abort(fmt::format("rank {} was interrupted by a signal", rank_));
  }

  /// A call of this rank made no sense: others may have begun theirs.
  void Refused(const c10::Error& error) {
    if (dynamic_cast<const c10::DistBackendError*>(&error) != nullptr || !group_ || ended_) return;
    const std::string_view why = error.what_without_backtrace();
    group_->Refused(std::string(why.substr(0, why.find('\n'))));
  }

  /// An operation in its turn.
  struct TurnTask {
    const char* operation;
    std::vector<View> reachable;  ///< of its tensors' memory
    Milliseconds timeout;
    std::uint64_t enqueued = 0;  ///< as of comm::Communicator::SetEnqueued
  };
  /// The end of it.
  struct Outcome {
    std::exception_ptr thrown = nullptr;
    std::optional<Error> error = {};
    std::shared_ptr<CallLines> lines = nullptr;  ///< of calls that differ
    CallLine line = {};                          ///< the same

    bool ok() const { return thrown == nullptr && !error; }
  };

  /// Ends the work of an operation. \param failure  null: it has succeeded
  void Complete(GroupWork& work, std::exception_ptr failure, SerialExecutor::Turn* turn) {
    if (!failure) completion_hooks_.Run(work.getCompletionKey());
    timeout_extensions_.End(work.getSequencenumber());
    work.Complete(std::move(failure), turn);
  }

  /// Carries out an operation in its turn.
  /// \param group  ours, which may be on its way out: group_ does not point to it any more then
  static Outcome Attempt(Group& group, std::uint64_t call, const Run& run, const TurnTask& task) {
    const at::NoGradGuard no_gradients;  // copies back into parameters are not recorded
    auto main = group.Main(call);
    if (!main.ok()) return {.error = main.error()};
    for (const View memory : task.reachable) group.Announce(memory);
    (*main)->SetEnqueued(task.enqueued);
    try {
      const Status status = run(**main, task.timeout);
      if (status.ok()) return {};
      if (status.error().code != Code::kProtocol) return {.error = status.error()};
      return {.error = status.error(),
              .lines = group.call_lines(),
              .line = {.communicator = (*main)->identity().magic, .call = call, .line = {}}};
    } catch (const std::exception& exception) {
      // The others cannot know that this rank will not go on.
      (*main)->Abort(fmt::format("{} failed: {}", task.operation, exception.what()));
      return {.thrown = std::current_exception()};
    }
  }

  /// Of an operation that goes on beside its caller: where that called it, if it is wanted. One
  /// that its caller waits for finds that when it has failed.
  static std::string LineToKeep() {
    return c10d::debug_level() == c10d::DebugLevel::Off ? "" : PythonLine();
  }
  /// On the caller's thread, outside the turn.
  std::exception_ptr FailureHere(const char* operation, const Outcome& outcome) {
    return FailureAt(outcome.lines ? PythonLine() : "", operation, outcome);
  }
  /// \param line  kept of an operation that goes on beside its caller
  std::exception_ptr FailureBeside(const std::string& line, const char* operation,
                                   const Outcome& outcome) {
    return FailureAt(
        line.empty() ? "an asynchronous call; TORCH_DISTRIBUTED_DEBUG=INFO keeps its line" : line,
        operation, outcome);
  }
  std::exception_ptr FailureAt(const std::string& line, const char* operation,
                               const Outcome& outcome) {
    if (outcome.thrown) return outcome.thrown;
    Error error = *outcome.error;
    if (outcome.lines) {
      CallLine mine = outcome.line;
      mine.line = line;
      error.message += outcome.lines->Exchange(mine);
    }
    return Failure(operation, error);
  }

  std::exception_ptr Failure(const char* operation, const Error& error) {
    last_error_ =
        error.code == Code::kTimeout ? c10d::ErrorType::TIMEOUT : c10d::ErrorType::COMM_ERROR;
    abort_hooks_.Run();
    return ToException(error, fmt::format("ringlet: rank {} of {}: {}", rank_, size_, operation));
  }

  /// \param by  as GroupWork::Complete
  template <typename By>
  void EndWork(GroupWork& work, const char* operation, const Status& status, By&& by) {
    if (status.ok()) completion_hooks_.Run(work.getCompletionKey());
    timeout_extensions_.End(work.getSequencenumber());
    work.Complete(status.ok() ? nullptr : Failure(operation, status.error()), by);
  }

  WorkPointer ReduceAll(const at::Tensor& tensor, const c10d::AllreduceOptions& opts,
                        c10d::OpType type) try {
    const Reduction reduction(tensor, opts.reduceOp);
    CheckWritten(tensor, "all_reduce");
    return Launch(Named(type, "all_reduce", opts, tensor, tensor),
                  [=](comm::Communicator& communicator, Milliseconds timeout) -> Status {
                    const at::Tensor dense = Dense(tensor);
                    RINGLET_TRY(AllReduce(communicator, dense, dense, reduction, timeout));
                    Deliver(dense, tensor);
                    return Ok();
                  });
  } catch (const c10::Error& error) {
    Refused(error);
    throw;
  }

  WorkPointer ReceiveFrom(Tensors& tensors, std::optional<std::uint32_t> from, int tag,
                          c10d::OpType type) {
    const at::Tensor tensor = OnlyOne(tensors, "recv");
    CheckWritten(tensor, "recv");
    const at::Tensor room = Room(tensor);
    Alive();
    const char* name = from ? "recv" : "recvAnySource";
    Name named = Named(type, name, NoOptions(), tensors, tensors);
    named.detail =
        fmt::format("from {} with tag {}", from ? fmt::format("rank {}", *from) : "any rank", tag);
    auto work = MakeWork(named);
    const auto done = [this, work, room, tensor, name](Status status, std::uint32_t sender) {
      const at::NoGradGuard no_gradients;
      if (status.ok()) Deliver(room, tensor);
      work->set_source(static_cast<int>(sender));
      EndWork(*work, name, status, group_->helpers());
    };
    const std::uint64_t number =
        p2p_queue_->Receive({.from = from, .tag = tag, .room = RoomOf(room), .done = done});
    work->set_withdrawal([this, number] { return p2p_queue_ && p2p_queue_->Withdraw(number); });
    return Coalesce(work);
  }

  static void CheckNew(bool is_new, std::int64_t number) {
    TORCH_CHECK_VALUE(is_new, "ringlet: a hook with the number ", number, " is there already");
  }
  void CheckPeer(int peer, const char* operation) const {
    TORCH_CHECK(peer >= 0 && peer < size_, "ringlet: ", operation, ": there is no rank ", peer,
                " in this group of ", size_);
  }
  Tensors ListOfAll(const std::vector<Tensors>& lists, const at::Tensor& model,
                    const char* operation) const {
    TORCH_CHECK(lists.size() == 1 && lists.front().size() == static_cast<std::size_t>(size_),
                "ringlet: ", operation, " takes one list with a tensor for each of the ", size_,
                " ranks");
    CheckAlike(lists.front(), model, operation);
    return lists.front();
  }
  static void CheckSame(const Tensors& tensors, const at::Tensor& model, const char* operation) {
    for (const at::Tensor& tensor : tensors)
      TORCH_CHECK(tensor.numel() == model.numel(), "ringlet: ", operation,
                  " takes tensors of one size, not of ", tensor.numel(), " and ", model.numel(),
                  " elements");
  }
  static void CheckPairs(const Tensors& outputs, const Tensors& inputs, const char* operation) {
    TORCH_CHECK(outputs.size() == inputs.size() && !inputs.empty(), "ringlet: ", operation,
                " takes as many outputs as inputs, not ", outputs.size(), " and ", inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CheckTensor(outputs[i], operation);
      CheckWritten(outputs[i], operation);
      CheckAlike({inputs[i]}, outputs[i], operation);
    }
  }

  const c10::intrusive_ptr<c10d::Store> store_;
  const c10::intrusive_ptr<BackendOptions> options_;
  const std::string name_;
  mutable std::string member_;      // of the handle; made when it is first asked for
  std::uint64_t generation_ = 0;    // how often it was formed anew
  std::set<std::int64_t> numbers_;  // of reconfigure
  std::unique_ptr<Group> group_;    // null after its end, and before it has members
  std::unique_ptr<P2pQueue> p2p_queue_;
  std::atomic<bool> ended_{false};
  std::atomic<bool> ends_later_{false};  // `ended_`, and its parts are still there
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<c10d::ErrorType> last_error_{c10d::ErrorType::SUCCESS};
  Hooks<> abort_hooks_;
  Hooks<std::uint64_t> completion_hooks_;  // with the key of the work
  TimeoutExtensions timeout_extensions_;
  std::optional<std::vector<WorkPointer>> coalescing_;
  std::uint64_t barriers_ = 0;
  std::uint64_t shrinks_ = 0;
};

}  // namespace ringlet::torch_api
