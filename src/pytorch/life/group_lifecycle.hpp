// The group behind a backend, from its creation to its end. Included by module.cpp only.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "pytorch/calls/p2p_queue.hpp"
#include "pytorch/calls/rank_in_group.hpp"
#include "pytorch/execution/interrupts.hpp"
#include "pytorch/group/group.hpp"
#include "pytorch/life/failures.hpp"
#include "pytorch/life/options.hpp"
#include "pytorch/store/store.hpp"

namespace ringlet::torch_api {

/// Returns Interrupts that abort the group if a signal handler throws, because the other ranks
/// would wait for the rest of the operation.
inline Interrupts AbortIfInterrupted(RankGroup& group) {
  return Interrupts([&group] {
    group.Abort(fmt::format("rank {} was interrupted by a signal", group.options().rank));
  });
}

/// Creates the group, provides it while it is usable, and ends it. With enable_reconfigure,
/// Reform sets the members, and can change them later.
class GroupLifecycle {
 public:
  GroupLifecycle(c10::intrusive_ptr<c10d::Store> store, c10::intrusive_ptr<BackendOptions> options,
                 std::string name, RankInGroup place, Failures& failures)
      : store_(std::move(store)),
        options_(std::move(options)),
        name_(std::move(name)),
        failures_(failures),
        place_(place),
        awaits_members_(EnablesReconfigure(*options_)) {
    TORCH_CHECK_VALUE(place.size >= 1 && place.rank >= 0 && place.rank < place.size,
                      "ringlet: rank ", place.rank,
                      " is not between 0 and size - 1 = ", place.size - 1);
    TORCH_CHECK_VALUE(options_->ranks_per_root >= 1, "ringlet: ranks_per_root is below 1");
    if (!awaits_members_) Make(store_, options_->FormingTimeout());
  }

  /// The store of all generations of the group.
  const c10::intrusive_ptr<c10d::Store>& store() const { return store_; }
  const c10::intrusive_ptr<BackendOptions>& options() const { return options_; }
  const std::string& name() const { return name_; }
  const RankInGroup& place() const { return place_; }
  bool has_ended() const { return ended_; }
  /// Null after the end, and before the group gets members.
  P2pQueue* p2p_queue() { return p2p_queue_.get(); }
  /// RankGroup::helpers, valid even while the group ends.
  Helpers& helpers() { return group_->helpers(); }

  /// Returns the group while it is usable; else throws.
  RankGroup& UsableGroup() const {
    TORCH_CHECK(!awaits_members_ || ended_, "ringlet: the process group ", name_,
                " does not have members yet: it was made with enable_reconfigure, so call "
                "reconfigure first");
    TORCH_CHECK_WITH(DistBackendError, group_ && !ended_, "ringlet: the process group ", name_,
                     " was shut down: Connection closed by this rank");
    TORCH_CHECK_WITH(DistBackendError, group_->fork_guard().IsHere(),
                     "ringlet: this process was forked from the one that made the process group, "
                     "and cannot use it; make the group in the child");
    return *group_;
  }

  void SetTimeout(std::chrono::milliseconds timeout) {
    options_->timeout = timeout;
    if (!awaits_members_) UsableGroup().set_timeout(timeout);
  }

  /// Reports that this rank has refused the arguments of a call that other ranks may have begun.
  void Refuse(const c10::Error& error) {
    if (dynamic_cast<const c10::DistBackendError*>(&error) != nullptr || !group_ || ended_) return;
    const std::string_view why = error.what_without_backtrace();
    group_->Refused(std::string(why.substr(0, why.find('\n'))));
  }

  /// Calls `act` in a turn with the communicator, even if failed; with null if it was not formed.
  /// Has no effect after the end.
  void InTurn(const std::function<void(comm::Communicator*)>& act) {
    if (!IsUsable() || ended_) return;
    group_->serial_executor().RunHere([&] { act(group_->formed()); });
  }

  /// Forms the communicator of a group of some of these ranks from this one's connections. If this
  /// group lacks a communicator, or the order of the ranks differs, the child forms its own from
  /// its store on first use. \param ranks  of this group, in the order of the child's
  void Connect(GroupLifecycle& child, const std::vector<int>& ranks) {
    if (!UsableGroup().is_formed() || !std::ranges::is_sorted(ranks)) return;
    const Interrupts interrupts = AbortIfInterrupted(*group_);
    const Status status =
        group_->CreateChild(*child.group_, std::vector<std::uint32_t>(ranks.begin(), ranks.end()));
    interrupts.Rethrow();
    TORCH_CHECK_WITH(DistBackendError, status.ok(),
                     "ringlet: splitting the process group: ", status.error().message);
  }

  /// Ends the current group, if any, before the next one replaces it.
  void EndBeforeReform() {
    if (!group_) return;
    group_->Abort(fmt::format("rank {} forms a new group", place_.rank));
    p2p_queue_->Abort("the process group forms again");
    EndGroup();
  }
  /// Creates the next group, after EndBeforeReform, and connects its ranks. Other groups connect on
  /// first use. \param store  of this group alone
  void Reform(RankInGroup place, const c10::intrusive_ptr<c10d::Store>& store,
              Milliseconds timeout) {
    place_ = place;
    awaits_members_ = false;
    failures_.Forget();
    Make(store, timeout);
    Status status = Ok();
    const Interrupts interrupts = AbortIfInterrupted(*group_);
    group_->serial_executor().RunHere([&] {
      const auto main = group_->Main(group_->NextCall());
      if (!main.ok()) status = main.error();
    });
    interrupts.Rethrow();
    if (!status.ok()) std::rethrow_exception(failures_.Of(place_, "reconfigure", status.error()));
  }

  /// Fails running operations on all ranks.
  void Abort() {
    if (!IsUsable()) return;
    failures_.abort_hooks().Run();
    const std::string why = fmt::format("rank {} of the process group aborted it", place_.rank);
    group_->Abort(why);
    p2p_queue_->Abort(why);
  }
  /// Cancels the running operation and those that wait for their turns.
  void AbortIfBusy() {
    if (IsUsable() && group_->serial_executor().IsBusy()) Abort();
  }

  /// Ends the threads and leaves the communicators; later operations are refused. Releases Python's
  /// lock meanwhile, because running callbacks may need it to finish.
  /// \param at_exit  cancel unfinished operations instead of waiting for other ranks
  void End(bool at_exit) {
    if (!group_) return;
    if (!group_->fork_guard().IsHere()) {
      // A child of fork has copies of these objects without their threads, so it ignores them.
      static_cast<void>(p2p_queue_.release());
      static_cast<void>(group_.release());
      return;
    }
    const WithoutPythonLock without_lock;
    // From here on, running callbacks are refused and so do not use the parts of the group.
    if (ended_.exchange(true) && !ends_later_.exchange(false)) return;
    if (at_exit) AbortIfBusy();
    EndGroup();
  }
  /// Refuses later operations; a later End does the rest. Returns false if the end has begun.
  bool DeferEnd() {
    if (ended_.exchange(true)) return false;
    ends_later_ = true;
    return true;
  }

 private:
  /// \param store  of this group alone
  void Make(const c10::intrusive_ptr<c10d::Store>& store, Milliseconds init_timeout) {
    const auto process = ProcessNumber();
    TORCH_CHECK(process.ok(), "ringlet: ", process.error().message);
    const std::string given = GroupNameOf(*options_);
    group_ = std::make_unique<RankGroup>(
        RankGroup::Options{.rank = static_cast<std::uint32_t>(place_.rank),
                           .size = static_cast<std::uint32_t>(place_.size),
                           .name = given.empty() ? name_ : given,
                           .timeout = options_->timeout,
                           .init_timeout = init_timeout,
                           .ranks_per_root = static_cast<std::uint32_t>(options_->ranks_per_root),
                           .beacon = place_.size > 1 ? Beacon() : nullptr,
                           .process = *process},
        std::make_shared<TorchStore>(store));
    p2p_queue_ = std::make_unique<P2pQueue>(*group_, LinesWithin(init_timeout));
    const Status announced = place_.size > 1 ? group_->Announce() : Ok();
    TORCH_CHECK_WITH(DistBackendError, announced.ok(), "ringlet: making the process group ", name_,
                     ": ", announced.error().message);
  }

  void EndGroup() {
    if (place_.size > 1) group_->Leave();
    p2p_queue_->Close();
    group_->Close();
    p2p_queue_ = nullptr;
    group_ = nullptr;
  }

  bool IsUsable() const { return group_ && group_->fork_guard().IsHere(); }

  /// Null if no address is available: then peers detect this rank's end only through connections.
  static std::shared_ptr<comm::Beacon> Beacon() {
    auto beacon = SharedBeacon();
    return beacon.ok() ? *beacon : nullptr;
  }

  const c10::intrusive_ptr<c10d::Store> store_;
  const c10::intrusive_ptr<BackendOptions> options_;
  const std::string name_;
  Failures& failures_;
  RankInGroup place_;
  bool awaits_members_;               // created without members, and not formed yet
  std::unique_ptr<RankGroup> group_;  // null after its end, and without members
  std::unique_ptr<P2pQueue> p2p_queue_;
  std::atomic<bool> ended_{false};
  std::atomic<bool> ends_later_{false};  // `ended_`, but its parts still exist
};

}  // namespace ringlet::torch_api
