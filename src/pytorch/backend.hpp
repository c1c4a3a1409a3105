// The process group of PyTorch. Included by module.cpp only.
//
// It forwards each call to the life of the group, to the launcher of operations, or to the parts of
// PyTorch that observe operations.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "pytorch/group/monitor.hpp"
#include "pytorch/group/own_member.hpp"
#include "pytorch/launch/launcher.hpp"
#include "pytorch/life/live_groups.hpp"
#include "pytorch/life/new_members.hpp"
#include "pytorch/operations/messages.hpp"
#include "pytorch/operations/moves.hpp"
#include "pytorch/operations/reductions.hpp"

namespace ringlet::torch_api {

class RingletBackend final : public c10d::Backend {
 public:
  RingletBackend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                 c10::intrusive_ptr<BackendOptions> options, std::string name = "ringlet")
      : Backend(rank, size),
        life_(store, std::move(options), std::move(name), {rank, size}, failures_) {
    LiveGroups::The().Add(life_);
  }

  ~RingletBackend() override {
    LiveGroups::The().Remove(life_);
    life_.End(false);
  }

  /// Access for other parts of the front end.
  GroupLifecycle& life() { return life_; }
  Launcher& launcher() { return launcher_; }
  const RankInGroup& place() const { return life_.place(); }

  const std::string getBackendName() const override { return life_.name(); }
  c10::intrusive_ptr<Backend::Options> getBackendOptions() override { return life_.options(); }
  void setTimeout(std::chrono::milliseconds timeout) override { life_.SetTimeout(timeout); }
  /// In PyTorch since 2.15.
  void addEphemeralTimeout(const std::chrono::milliseconds& time) {
    works_.timeout_extensions().Add(time);
  }
  /// Returns the bytes of host memory that the group's operations use. In PyTorch since 2.12.
  std::unordered_map<std::string, std::uint64_t> getMemoryStats() {
    const auto use = life_.UsableGroup().memory_use();
    return {{"working_bytes", use.working},
            {"shared_bytes", use.shared},
            {"reachable_tensor_bytes", TensorMemory::The().bytes()}};
  }
  /// Allocates memory that the other ranks of the host can reach. DDP stores its gradients there,
  /// and FSDP2 its parameters on request.
  at::Tensor allocateTensor(long size, at::TensorOptions options) override {
    return ReachableTensor(size, options);
  }
  bool supportsTensorAlloc(c10::DeviceIndex /*device*/) override { return true; }
  void setSequenceNumberForGroup() override {}
  std::uint64_t getSequenceNumberForGroup() override { return works_.count(); }
  c10d::ErrorType getError() override { return failures_.last(); }

  void abort() override { life_.Abort(); }
  /// If a signal handler calls this while the thread waits in an operation, aborts the group and
  /// keeps it until the program ends, because the operation still uses it.
  void shutdown() override {
    if (!comm::LongWait::IsLooking()) return life_.End(false);
    if (!life_.DeferEnd()) return;
    LiveGroups::The().Keep(c10::intrusive_ptr<RingletBackend>::unsafe_reclaim_from_nonowning(this));
    life_.Abort();
  }

#ifdef C10D_BACKEND_HAS_HOOKS
  // PyTorch's flight recorder registers hooks, among others.
  void registerAbortHook(std::int64_t number, c10d::AbortHook hook) override {
    CheckNew(failures_.abort_hooks().Add(number, std::move(hook)), number);
  }
  void unregisterAbortHook(std::int64_t number) override {
    failures_.abort_hooks().Remove(number);
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
    CheckNew(works_.completion_hooks().Add(number, call), number);
  }
  void unregisterCompletionHook(std::int64_t number) override {
    works_.completion_hooks().Remove(number);
  }
#endif

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

  /// Replaces the group by one of the ranks with these handles, in their order. All of them call it
  /// with the same number and meet in the store of the original group. Aborts running operations.
  /// Blocks until the new group is formed.
  WorkPointer reconfigure(const c10d::ReconfigureOptions& opts) override {
    const std::vector<std::string> handles = InOrder(opts.handles);
    const auto member_rank = FindMemberRank(handles, Handle());
    TORCH_CHECK_VALUE(member_rank.ok(), "ringlet: reconfigure: ", member_rank.error().message);
    TORCH_CHECK(!life_.has_ended(), "ringlet: reconfigure: the process group was shut down");
    TORCH_CHECK(member_.UseNumber(opts.uuid), "ringlet: reconfigure: the uuid ", opts.uuid,
                " was already used; use a new one for each call");
    const WithoutPythonLock without_lock;
    const auto store =
        c10::make_intrusive<c10d::PrefixStore>(fmt::format("members{}", opts.uuid), life_.store());
    AgreeOnMembers(*store, opts.uuid, handles);
    life_.EndBeforeReform();
    member_.CountChange();
    rank_ = static_cast<int>(member_rank->rank);
    size_ = static_cast<int>(member_rank->size);
    works_.CountAnew();
    barriers_ = shrinks_ = 0;
    life_.Reform({rank_, size_}, store, opts.timeout.value_or(life_.options()->timeout));
    auto work = launcher_.Begin(
        launcher_.Describe(c10d::OpType::UNKNOWN, "reconfigure", NoOptions(), {}, {}));
    work->Complete(nullptr);
    return work;
  }
#endif

  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override {
    TORCH_CHECK(tensors.size() == 1, "ringlet: all_reduce takes one tensor, not ", tensors.size());
    if (tensors.front().layout() == at::kSparse) return allreduce_sparse(tensors, opts);
    return Call<LaunchAllReduce>(OnlyOne(tensors, "all_reduce"), opts);
  }
  WorkPointer allreduce_coalesced(Tensors& tensors,
                                  const c10d::AllreduceCoalescedOptions& opts) override {
    return Call<LaunchAllReduceCoalesced>(tensors, opts);
  }
  WorkPointer allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override {
    return Call<LaunchSparseAllReduce>(tensors, opts);
  }
  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override {
    return Call<LaunchBroadcast>(tensors, opts);
  }
  WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override {
    return Call<LaunchReduce>(tensors, opts);
  }
  WorkPointer allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                        const c10d::AllgatherOptions& opts) override {
    return Call<LaunchAllGather>(outputs, inputs, opts);
  }
  WorkPointer _allgather_base(at::Tensor& output, at::Tensor& input,
                              const c10d::AllgatherOptions& opts) override {
    return Call<LaunchAllGatherTensor>(output, input, opts);
  }
  WorkPointer allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                  const c10d::AllgatherOptions& opts) override {
    return Call<LaunchAllGatherCoalesced>(outputs, inputs, opts);
  }
  WorkPointer allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::AllgatherOptions& opts) override {
    return Call<LaunchAllGatherTensorCoalesced>(outputs, inputs, opts);
  }
  WorkPointer gather(std::vector<Tensors>& outputs, Tensors& inputs,
                     const c10d::GatherOptions& opts) override {
    return Call<LaunchGather>(outputs, inputs, opts);
  }
  /// PyTorch has it since 2.12; in 2.15 also as gather_single.
  WorkPointer gather_into_tensor(at::Tensor& output, at::Tensor& input,
                                 const c10d::GatherOptions& opts) {
    return Call<LaunchGatherTensor>(output, input, opts);
  }
  WorkPointer scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                      const c10d::ScatterOptions& opts) override {
    return Call<LaunchScatter>(outputs, inputs, opts);
  }
  WorkPointer reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                             const c10d::ReduceScatterOptions& opts) override {
    return Call<LaunchReduceScatter>(outputs, inputs, opts);
  }
  WorkPointer _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                   const c10d::ReduceScatterOptions& opts) override {
    return Call<LaunchReduceScatterTensor>(output, input, opts);
  }
  WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::ReduceScatterOptions& opts) override {
    return Call<LaunchReduceScatterCoalesced>(outputs, inputs, opts);
  }
  WorkPointer alltoall_base(at::Tensor& output, at::Tensor& input,
                            std::vector<std::int64_t>& output_splits,
                            std::vector<std::int64_t>& input_splits,
                            const c10d::AllToAllOptions& opts) override {
    return Call<LaunchAllToAllTensor>(output, input, output_splits, input_splits, opts);
  }
  WorkPointer alltoall(Tensors& outputs, Tensors& inputs,
                       const c10d::AllToAllOptions& opts) override {
    return Call<LaunchAllToAll>(outputs, inputs, opts);
  }
  WorkPointer barrier(const c10d::BarrierOptions& opts) override {
    return LaunchBarrier(launcher_, opts);
  }

  WorkPointer send(Tensors& tensors, int to, int tag) override {
    return LaunchSend(launcher_, tensors, to, tag);
  }
  WorkPointer recv(Tensors& tensors, int from, int tag) override {
    place().CheckPeer(from, "recv");
    return LaunchReceive(launcher_, tensors, static_cast<std::uint32_t>(from), tag);
  }
  WorkPointer recvAnysource(Tensors& tensors, int tag) override {
    return LaunchReceive(launcher_, tensors, std::nullopt, tag);
  }

  bool supportsCoalescing() const override {
    return true;
  }
  void startCoalescing() override {
    launcher_.StartCoalescing();
  }
  WorkPointer endCoalescing() override {
    return launcher_.EndCoalescing();
  }

  /// Uses only the store, so that it can name missing ranks even if the communicator fails.
  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override {
    RankGroup& group = life_.UsableGroup();
    const BarrierCall barrier_call{
        .rank = static_cast<std::uint32_t>(rank_),
        .size = static_cast<std::uint32_t>(size_),
        .number = barriers_++,
        .timeout = opts.timeout == c10d::kUnsetTimeout ? group.timeout() : opts.timeout,
        .wait_for_all = wait_all_ranks};
    const Interrupts interrupts;
    const Status status =
        RunMonitoredBarrier(group.store(), group.presence(), barrier_call, group.ending());
    interrupts.Rethrow();
    TORCH_CHECK_WITH(DistBackendError, status.ok(), "ringlet: ", status.error().message);
  }

  bool supportsSplitting() const override {
    return true;
  }
  /// Creates a group of some ranks; these call it. If this group has a communicator, the new one
  /// uses its connections; otherwise it is formed through the store on first use.
  c10::intrusive_ptr<Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                    const std::vector<int>& ranks,
                                    const c10::intrusive_ptr<Backend::Options>& opts) override {
    const auto mine = std::ranges::find(ranks, rank_);
    if (mine == ranks.end()) return nullptr;
    auto child = c10::make_intrusive<RingletBackend>(store, static_cast<int>(mine - ranks.begin()),
                                                     static_cast<int>(ranks.size()),
                                                     life_.options()->OfChild(opts), life_.name());
    life_.Connect(child->life_, ranks);
    return child;
  }

  /// Creates a group of ranks of several groups. All of them call it and meet in `store`.
  c10::intrusive_ptr<Backend> merge(const c10::intrusive_ptr<c10d::Store>& store,
                                    const c10::intrusive_ptr<Backend::Options>& opts,
                                    const int& rank, const int& size) override {
    return c10::make_intrusive<RingletBackend>(store, rank, size, life_.options()->OfChild(opts),
                                               life_.name());
  }

  bool supportsShrinking() const override {
    return true;
  }
  /// Creates a group of the remaining ranks; these call it. The excluded ranks may be lost.
  c10::intrusive_ptr<Backend> shrink(const std::vector<std::int64_t>& excluded, int /*flags*/,
                                     const c10::intrusive_ptr<Backend::Options>& opts) override {
    std::vector<int> left;
    for (int rank = 0; rank < size_; ++rank)
      if (std::ranges::find(excluded, rank) == excluded.end()) left.push_back(rank);
    TORCH_CHECK(std::ranges::find(left, rank_) != left.end(),
                "ringlet: the rank that calls shrink cannot exclude itself");
    const auto store =
        c10::make_intrusive<c10d::PrefixStore>(fmt::format("shrink{}/", shrinks_++), life_.store());
    return split(store, left, opts);
  }

 private:
  /// Launches an operation that may refuse its arguments.
  template <auto kLaunch, typename... Arguments>
  WorkPointer Call(Arguments&... arguments) {
    return launcher_.TryOrRefuse([&] { return kLaunch(launcher_, arguments...); });
  }

  static void CheckNew(bool is_new, std::int64_t number) {
    TORCH_CHECK_VALUE(is_new, "ringlet: a hook with the number ", number, " already exists");
  }

  MemberHandle Handle() const {
    const auto handle = member_.Handle();
    TORCH_CHECK(handle.ok(), "ringlet: ", handle.error().message);
    return *handle;
  }

  // Must be the first field: PyTorch's Logger mistakes a backend with the name "gloo", which the
  // tests create, for a ProcessGroupGloo and reads a number through the pointer at this offset.
  GroupLifecycle life_;
  Failures failures_;
  Works works_;
  Launcher launcher_{life_, works_, failures_};
  OwnMember member_;
  std::uint64_t barriers_ = 0;
  std::uint64_t shrinks_ = 0;
};

}  // namespace ringlet::torch_api
