#include "pytorch/group/group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/establish/split.hpp"
#include "comm/service/clock.hpp"

namespace ringlet::torch_api {

RankGroup::RankGroup(Options options, std::shared_ptr<KeyStore> store)
    : options_(std::move(options)),
      all_generations_(std::move(store)),
      store_(std::make_shared<GenerationStore>(all_generations_)),
      timeout_ms_(options_.timeout.count()),
      presence_(*all_generations_,
                {.rank = options_.rank, .beacon = options_.beacon, .process = options_.process}),
      call_lines_(
          std::make_shared<CallLines>(store_, options_.rank, options_.size, ending_.get_token())) {}

RankGroup::~RankGroup() {
  Close();
}

Status RankGroup::Announce() {
  const Status announced = presence_.Announce();
  // If the store has ended with a rank that needed no peer, this rank may not need peers either. A
  // later use of the store reports the error.
  if (!announced.ok()) return all_generations_->IsGone() ? Ok() : announced;
  store_->set_generation(presence_.generation());
  return Ok();
}

void RankGroup::Leave() {
  if (all_generations_->IsGone()) return;
  auto use = Presence::Use::kNone;
  if (formed_) {
    const std::lock_guard lock(mutex_);
    use = main_ ? Presence::Use::kConnected : Presence::Use::kFailed;
  }
  (void)presence_.Leave(use);
}

std::optional<Error> RankGroup::failure() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return failure_;
  return main_ ? main_->failure() : std::nullopt;
}

namespace {

// Most groups form before this time, without checks for living ranks.
constexpr std::chrono::milliseconds kFirstLook{200};
constexpr std::chrono::milliseconds kBetweenLooks{50};
// Checks after the failure; the first one is immediate.
constexpr int kLastLooks = 4;

/// A note in the store: the last call that a rank has refused.
struct Refusal {
  std::uint64_t call = 0;
  bool stands = false;  // the rank is idle, so peers wait for it in vain
  std::string why;

  static std::string Key(std::uint32_t rank) { return fmt::format("refused:{}", rank); }
  Status Publish(KeyStore& store, std::uint32_t rank) const {
    Writer out;
    out.U64(call).U8(stands ? 1 : 0).Raw(AsView(why));
    return store.Set(Key(rank), out.view());
  }
  static Refusal Of(KeyStore& store, std::uint32_t rank) {
    const auto told = store.Find(Key(rank));
    if (!told.ok() || !*told) return {};
    Reader in(**told);
    Refusal refusal;
    refusal.call = in.U64();
    refusal.stands = in.U8() != 0;
    refusal.why = AsText(in.Raw(in.remaining()));
    return in.ok() ? refusal : Refusal();
  }
};

/// Returns the reason why a rank below `end` refuses a call; empty if unknown.
std::string WhyRefused(KeyStore& store, std::uint32_t end, std::uint64_t call) {
  for (std::uint32_t rank = 0; rank < end; ++rank) {
    const Refusal refusal = Refusal::Of(store, rank);
    if (refusal.stands && refusal.call == call) return refusal.why;
  }
  return "";
}

/// Checks awaited ranks on a helper, from kFirstLook on, while this object lives.
class Watch {
 public:
  /// \param call  the number of the running call
  Watch(RankGroup& group, comm::Process& process, std::uint64_t call, std::stop_source& stop)
      : shared_(std::make_shared<WatchState>()) {
    process.driver().PostAfter(kFirstLook, [&group, call, &stop, shared = shared_] {
      const std::lock_guard lock(shared->mutex);
      if (shared->over) return;  // the group may be destroyed
      // If no thread is available, waiting ranks wait until their timeout.
      shared->running = group.helpers().TryRun([&group, call, &stop, shared] {
        Look(group, call, stop, *shared);
        const std::lock_guard ended(shared->mutex);
        shared->running = false;
        shared->news.notify_all();
      });
    });
  }
  ~Watch() { End(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void End() {
    std::unique_lock lock(shared_->mutex);
    shared_->over = true;
    shared_->news.notify_all();
    shared_->news.wait(lock, [&] { return !shared_->running; });
  }

 private:
  struct WatchState {
    std::mutex mutex;
    std::condition_variable news;
    bool running = false;
    bool over = false;
  };

  static void Look(RankGroup& group, std::uint64_t call, std::stop_source& stop,
                   WatchState& shared) {
    const auto& options = group.options();
    // Rank 0 informs the others. Any rank may check rank 0.
    const std::uint32_t watched = options.rank == 0 ? options.size : 1;
    std::unique_lock lock(shared.mutex);
    while (!shared.over) {
      lock.unlock();
      const bool in_vain = !WhyRefused(group.store(), watched, call).empty() ||
                           !AbsenceReason(group.presence(), watched, options.rank).empty();
      lock.lock();
      if (in_vain) {
        stop.request_stop();
        return;
      }
      shared.news.wait_for(lock, kBetweenLooks, [&] { return shared.over; });
    }
  }

  const std::shared_ptr<WatchState> shared_;
};

}  // namespace

void RankGroup::Close() {
  closing_.request_stop();
  serial_executor_.reset();
  helpers_ = nullptr;
  if (has_refused_ && !store_->IsGone()) store_->Erase(Refusal::Key(options_.rank));
}

Result<std::unique_ptr<comm::Communicator>> RankGroup::FormMain(std::uint64_t call) {
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  const FormationConfig formation{.rank = options_.rank,
                                  .size = options_.size,
                                  .key = "0",
                                  .ranks_per_root = options_.ranks_per_root,
                                  .timeout = options_.init_timeout,
                                  .operation_timeout = timeout()};
  std::stop_source stop;
  const std::stop_callback ends(ending_.get_token(), [&] { stop.request_stop(); });
  auto lease = process->Borrow(options_.size);
  Watch watch(*this, *process, call, stop);
  auto formed = Form(*store_, formation, process, stop.get_token());
  watch.End();
  const Status served = lease.End();
  if (formed.ok() && !served.ok()) return served.error();
  if (formed.ok()) return formed;
  // Another rank may have given up first and know less.
  std::string why;
  for (int look = 0; look < kLastLooks && why.empty(); ++look) {
    if (look > 0 && !Pause(kBetweenLooks, ending_.get_token())) break;
    why = AbsenceReason(presence_, options_.size, options_.rank);
  }
  if (ending_.stop_requested()) return formed;
  if (std::string refused = WhyRefused(*store_, options_.size, call); !refused.empty())
    return Error{Code::kAborted, std::move(refused)};
  if (why.empty()) return formed;
  return Error{Code::kPeerLost,
               fmt::format("the process group {} cannot connect: {}", options_.name, why)};
}

Result<comm::Communicator*> RankGroup::Main(std::uint64_t call) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;
    if (main_) return main_.get();
  }
  formed_ = true;
  auto formed = FormMain(call);
  const std::lock_guard lock(mutex_);
  if (formed.ok()) {
    main_ = std::move(*formed);
    return main_.get();
  }
  failure_ = formed.error();
  return *failure_;
}

comm::Communicator::MemoryUse RankGroup::memory_use() const {
  const std::lock_guard lock(mutex_);
  return main_ ? main_->memory_use() : comm::Communicator::MemoryUse{};
}

Status RankGroup::CreateChild(RankGroup& child, const std::vector<std::uint32_t>& ranks) {
  std::vector<std::uint32_t> excluded;
  for (std::uint32_t rank = 0; rank < options_.size; ++rank)
    if (!std::ranges::binary_search(ranks, rank)) excluded.push_back(rank);
  Status status = Ok();
  serial_executor().RunHere([&] {
    auto parent = Main();
    if (!parent.ok()) {
      status = parent.error();
      return;
    }
    auto made = comm::Shrink(**parent, excluded, ending_.get_token());
    if (!made.ok()) {
      status = made.error();
      return;
    }
    const std::lock_guard lock(child.mutex_);
    child.main_ = std::move(*made);
    child.formed_ = true;
  });
  return status;
}

void RankGroup::Refused(std::string why) {
  serial_executor().Submit(
      [this, call = NextCall(),
       why = fmt::format("rank {} refused its arguments: {}", options_.rank, why)](
          SerialExecutor::Turn&) { PublishRefusal(call, why); });
}

void RankGroup::PublishRefusal(std::uint64_t call, const std::string& why) {
  // A program that refuses a call on all ranks, or calls again with other arguments, continues.
  constexpr std::chrono::milliseconds kGrace{500};
  const auto goes_on = [&] {
    return serial_executor().IsAwaited() || closing_.stop_requested() || failure().has_value();
  };
  Refusal refusal{.call = call, .why = why};
  has_refused_ = true;
  if (!refusal.Publish(*store_, options_.rank).ok()) return;  // no rank can be informed
  const Instant begin = comm::Now();
  Instant not_awaited = begin;  // the last time without waiting peers
  while (comm::Now() < begin + timeout() && !goes_on()) {
    if (!Pause(kBetweenLooks, closing_.get_token())) break;
    if (formed_) {
      if (!HasRankInLaterCall(call)) not_awaited = comm::Now();
      if (comm::Now() - not_awaited >= kGrace && !goes_on()) main_->Abort(why);
    } else if (!refusal.stands && comm::Now() - begin >= kGrace) {
      refusal.stands = true;
      (void)refusal.Publish(*store_, options_.rank);
    }
  }
  if (!refusal.stands) return;
  refusal.stands = false;
  (void)refusal.Publish(*store_, options_.rank);
}

bool RankGroup::HasRankInLaterCall(std::uint64_t call) {
  if (!main_) return false;  // it could not be formed
  const std::uint64_t own = main_->control().doing().operations;
  for (std::uint32_t rank = 0; rank < options_.size; ++rank) {
    if (rank == options_.rank) continue;
    const auto [presence, activity] = main_->control().Ask(Rank{rank}, kBetweenLooks);
    // Ignores a rank that refused the same call and is in a later one.
    if (presence == comm::Control::Reachability::kHere && activity.operations > own &&
        Refusal::Of(*store_, rank).call < call)
      return true;
  }
  return false;
}

void RankGroup::Abort(const std::string& why) {
  ending_.request_stop();
  const std::lock_guard lock(mutex_);
  if (!failure_)
    failure_ = Error{Code::kAborted,
                     fmt::format("the process group {} was aborted: {}", options_.name, why)};
  if (main_) main_->Abort(why);
}

}  // namespace ringlet::torch_api
