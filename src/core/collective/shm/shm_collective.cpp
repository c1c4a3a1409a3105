#include "collective/shm/shm_collective.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "collective/reduce/reduce.hpp"
#include "transport/link/copy.hpp"

namespace ringlet::collective {
namespace {

// Slices per Advance. After some milliseconds the driver of the operation has its turn, and the
// rank checks for failed ranks.
constexpr int kSlicesAtOnce = 16;

// A fetched scatter ends on each rank when all ranks have read their blocks. Slices do not wait for
// other ranks, and are faster for less data in all blocks: 58 us against 69 us for 256 KiB on 4
// ranks and 2 cores of an AMD EPYC, but 3,000 us against 1,070 us for 2 MiB on 32 ranks.
constexpr std::size_t kFetchedScatterMin = 1 << 20;

// Each rank fetches a block from each other rank, by one system call if that is another process. So
// the blocks of many ranks must be larger. (2 cores of an AMD EPYC, ms with fetches and in slices:
// all_gather among 64 ranks, blocks of 4 KiB 12.4 and 1.9, of 64 KiB 16.9 and 31.8; all_to_all
// among 16 ranks, 1 KiB 0.14 and 0.53; among 128 ranks, 1 KiB 46 and 5.6, 32 KiB 50 and 132.)
constexpr std::size_t kGatheredBytesMinByRank = 128, kExchangedBytesMinByRank = 16;

// ArenaHeader::failed: the first rank that gave up is in the lower bits, the one it blames above.
constexpr std::uint32_t kBlamedShift = 16, kGivenUpMask = 0xffff;

bool MayFetch(const Call& call, std::uint32_t ranks) {
  return MayFetch(call.kind, BlockBytes(call), ranks);
}

}  // namespace

bool MayFetch(CallKind kind, std::size_t block, std::uint32_t ranks) {
  const std::size_t least = std::bit_floor(block);
  if (kind == CallKind::kAllGather) return least >= kGatheredBytesMinByRank * ranks;
  if (kind == CallKind::kAllToAll) return least >= kExchangedBytesMinByRank * ranks;
  return kind == CallKind::kBroadcast ||
         (kind == CallKind::kScatter && least * ranks >= kFetchedScatterMin);
}

ShmCollective::ShmCollective(std::shared_ptr<transport::Arena> arena, std::uint32_t self,
                             WaitPolicy wait_policy, ShmOptions options, HostReach reach)
    : posts_(arena, self, std::move(options.ranks), wait_policy.looks > 0),
      spinners_{Spinner(wait_policy), Spinner(wait_policy.ForOtherHosts())},
      place_{.waiter = &posts_.waiter(), .spinner = &spinners_.front()},
      stream_bytes_min_(options.stream_bytes_min),
      slices_(arena, self, options.nodes),
      ticks_(options.ticks) {
  RINGLET_ASSERT(arena->shape().stage_bytes >= std::size_t{64} * ranks());
  for (Spinner& spinner : spinners_) spinner.Share(arena->header().yield_pause);
  if (reach.shared) direct_.emplace(std::move(arena), self, std::move(reach));
}

ShmCollective::~ShmCollective() = default;

void ShmCollective::StartPart(const Call& call, Algorithm how, const Fingerprint& whole,
                              PartOf which) {
  RINGLET_ASSERT(std::holds_alternative<Idle>(phase_));
  place_.spinner = &spinners_[which == PartOf::kAfterLinks ? 1 : 0];
  gone_ = 0;
  phase_ = Posting{how};
  const bool one_shot = how == Algorithm::kOneShot;
  const std::size_t block = BlockBytes(call);
  posts_.Begin(whole, which, !one_shot ? 0 : PieceEach(call.kind) ? ranks() * block : block);
  if (one_shot && RunAtOnce(call)) return;
  call_ = call;
}

// Posts a one-shot operation unless the rank must wait for its slot. Returns true if all needed
// ranks have posted, and the operation is done. Otherwise Advance continues, and finds errors.
bool ShmCollective::RunAtOnce(const Call& call) {
  if (error_ || HasRankFailed() || !posts_.MayPublish()) return false;
  PostOneShot(call);
  const Result<bool> done = FinishOneShot(call);
  if (!done.ok() || !*done) return false;
  posts_.End();
  phase_ = Idle{};
  return true;
}

void ShmCollective::CountEmptyCall(const Fingerprint& call) {
  RINGLET_ASSERT((error_ || std::holds_alternative<Idle>(phase_)) && call.count == 0);
  posts_.CountEmptyCall(call);
}

Result<bool> ShmCollective::Advance() {
  moved_ = false;
  if (error_) return *error_;
  if (std::holds_alternative<Idle>(phase_)) return moved_ = true;
  if (const auto* const posting = std::get_if<Posting>(&phase_)) {
    if (HasRankFailed()) return Fail({Code::kPeerLost, ""});
    if (!posts_.MayPublish()) return Wait();
    Post(posting->how);
    moved_ = true;
  }
  auto* const direct = std::get_if<Direct>(&phase_);
  auto* const slices = std::get_if<Slices>(&phase_);
  Result<bool> done = direct   ? AdvanceDirect(*direct)
                      : slices ? AdvanceSlices(*slices)
                               : FinishOneShot(call_);
  if (!done.ok()) return Fail(std::move(done).error());
  if (!*done) return Wait();
  posts_.End();
  phase_ = Idle{};
  moved_ = true;
  RecordTime();
  return true;
}

// ---- races --------------------------------------------------------------------------------------

struct ShmCollective::Races {
  static constexpr std::size_t kSizes = 64;  // powers of two
  std::array<std::array<Race, kSizes>, kCallKinds> of;
};

// Returns the rank that chooses the way for all ranks, by its own times. It is a rank that receives
// data, because the root of a broadcast may be done long before the others.
std::uint32_t ShmCollective::ChooserOf(const Call& call) const {
  const CallShape& shape = ShapeOf(call.kind);
  if (shape.to_root) return Index(call.root);
  return shape.from_root ? (Index(call.root) + 1) % ranks() : 0;
}

// Null unless this rank chooses for all.
Race* ShmCollective::RaceOf(const Call& call) {
  if (self() != ChooserOf(call) || ticks_ == nullptr) return nullptr;
  if (!races_) {
    races_ = std::make_unique<Races>();
    for (std::size_t kind = 0; kind < kCallKinds; ++kind)
      for (std::size_t size = 0; size < Races::kSizes; ++size)
        races_->of[kind][size] =
            Race(MayFetch(CallKind(kind), std::size_t{1} << size, ranks()) ? 3 : 2);
  }
  const auto size = static_cast<std::size_t>(std::bit_width(BlockBytes(call)));
  return &races_->of[static_cast<std::size_t>(call.kind)][size - 1];
}

ShmCollective::Way ShmCollective::WayOf(const Call& call) {
  race_ = RaceOf(call);
  const std::uint32_t first = MayFetch(call, ranks()) ? 0 : 1;
  if (!race_) return static_cast<Way>(first);
  begun_ = ticks_();
  return static_cast<Way>(first + race_->way());
}

void ShmCollective::RecordTime() {
  if (Race* const race = std::exchange(race_, nullptr)) race->Record(ticks_() - begun_);
}

// Fails if the awaited rank has left or any rank has failed. Otherwise returns false: not done.
Result<bool> ShmCollective::Wait() {
  if (arena().header().failed.load(std::memory_order_seq_cst) != 0)  // is news: see doorbell.hpp
    return Fail({Code::kPeerLost, ""});
  const std::uint32_t awaited = posts_.awaited();
  const bool left = awaited < ranks() && awaited != self() &&
                    arena().rank(awaited).left.load(std::memory_order_seq_cst) != 0;
  if (!left || moved_) return false;
  // It may have done the awaited work before it left, so check once more.
  moved_ = std::exchange(gone_, awaited + 1) != awaited + 1;
  if (moved_) return false;
  return Fail(
      {.code = Code::kPeerLost,
       .message = fmt::format(
           "rank {} left the communicator (destroyed or aborted it) before operation {}: {}",
           posts_.RankAt(awaited), posts_.number(), WaitingFor()),
       .lost_rank = static_cast<int>(posts_.RankAt(awaited))},
      awaited + 1);
}

void ShmCollective::Post(Algorithm how) {
  if (how == Algorithm::kOneShot) return PostOneShot(call_);
  const bool stream = OutputBytes(call_, {Rank{self()}, ranks()}) * ranks() >= stream_bytes_min_;
  const bool adaptive = direct_ && how == Algorithm::kAdaptive;
  const bool fetch = how == Algorithm::kFetch || (adaptive && MayFetch(call_, ranks()));
  std::byte* const payload = posts_.Describe();
  transport::ArenaPlaces places;
  if (direct_ && how != Algorithm::kSlices)
    places = direct_->Begin(call_, posts_.sequence(), {.stream = stream, .fetch = fetch});
  if (adaptive) places.way = static_cast<std::uint32_t>(WayOf(call_));
  std::memcpy(payload, &places, sizeof places);
  phase_ = Direct{.stream = stream, .adaptive = adaptive, .met = false};
  if (places.offered == 0 && !adaptive) BeginSlices({.stream = stream}, false);
  posts_.Publish();
}

// ---- one-shot -----------------------------------------------------------------------------------

void ShmCollective::PostOneShot(const Call& call) {
  const std::size_t bytes = InputBytes(call, {Rank{self()}, ranks()});
  std::byte* const payload = posts_.Describe();
  if (bytes > 0) transport::Copy(call.input.first(bytes), payload);
  posts_.Publish();
  phase_ = OneShot{};
}

Result<bool> ShmCollective::FinishOneShot(const Call& call) {
  Result<bool> met = posts_.AwaitPosts(call, !ShapeOf(call.kind).moves);
  const std::size_t block = BlockBytes(call);
  if (!met.ok() || !*met || block == 0) return met;
  const std::size_t mine = PieceEach(call.kind) ? self() * block : 0;
  const auto input_of = [&](std::uint32_t rank) {
    return (rank == self() ? call.input.data() : posts_.Payload(rank)) + mine;
  };
  if (Reduces(call.kind)) {
    if (call.kind == CallKind::kReduce && Index(call.root) != self()) return met;
    std::array<const std::byte*, kInputsMax> sources;
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) sources[rank] = input_of(rank);
    ReduceMany({call.type, call.op, ranks()}, std::span(sources).first(ranks()),
               {call.output.data(), block});
    return met;
  }
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    if (!SendsData(call, Rank{rank}, Rank{self()})) continue;
    std::byte* const to = call.output.data() + OutputOffset(call, Rank{rank});
    const std::byte* const from = input_of(rank);
    if (from != to) transport::Copy({from, block}, to);
  }
  return met;
}

// ---- direct access to the ranks' memory ---------------------------------------------------------

Result<bool> ShmCollective::AdvanceDirect(Direct& direct) {
  if (!direct.met) {
    RINGLET_TRY_ASSIGN(direct.met, posts_.AwaitPosts(call_, true));
    if (!direct.met) return false;
    if (direct.adaptive && direct_->AllRegistered()) {
      race_ = nullptr;  // uses the memory in place, whatever the choice is
    } else if (direct.adaptive) {
      // A peer's value without a meaning counts as kFetch.
      const auto way = static_cast<Way>(direct_->PlacesOf(ChooserOf(call_)).way);
      if (way == Way::kSlices || way == Way::kSlicesThrough) {
        direct_->End();
        BeginSlices({.stream = direct.stream, .through = way == Way::kSlicesThrough}, true);
        return false;
      }
    }
  }
  std::uint32_t awaited = posts_.awaited();
  const auto step = direct_->Advance(base_ + 1, awaited);
  posts_.Await(awaited);
  moved_ = moved_ || step != ZeroCopyShm::AdvanceResult::kWaits;
  if (step == ZeroCopyShm::AdvanceResult::kLost)
    return Error(
        {Code::kPeerLost,
         fmt::format("the memory of rank {} is no longer accessible: its process has ended, "
                     "or has freed memory that it passed to {}",
                     posts_.RankAt(awaited), posts_.CurrentCallText())});
  if (step != ZeroCopyShm::AdvanceResult::kRefused && step != ZeroCopyShm::AdvanceResult::kDone)
    return false;
  direct_->End();
  if (step == ZeroCopyShm::AdvanceResult::kRefused) {
    race_ = nullptr;
    BeginSlices({.stream = direct.stream}, true);
    return false;
  }
  ++base_;
  slices_.CountOther();
  return true;
}

// After reading, peers in other processes check whether a rank has given up.
void ShmCollective::Withdraw() {
  if (std::holds_alternative<Direct>(phase_) && direct_->lets_read()) GiveUp();
  if (direct_) direct_->End();
}

// ---- slices -------------------------------------------------------------------------------------

void ShmCollective::BeginSlices(PipelinedShm::SliceMode mode, bool met) {
  moved_ = true;
  slices_.Begin(call_, base_, mode);
  phase_ = Slices{met};
}

Result<bool> ShmCollective::AdvanceSlices(Slices& slices) {
  // All ranks add up their shares, even without data for this rank.
  const bool all = call_.kind == CallKind::kReduce || !ShapeOf(call_.kind).moves;
  for (int turn = 0; turn < kSlicesAtOnce; ++turn) {
    std::uint32_t awaited = ranks();
    bool moved = slices_.Put(awaited);
    moved_ = moved_ || moved;
    if (!slices.met) {
      RINGLET_TRY_ASSIGN(slices.met, posts_.AwaitPosts(call_, all));
      if (!slices.met) return false;
    }
    moved = slices_.Work(awaited) || moved;
    if (awaited < ranks()) posts_.Await(awaited);
    moved_ = moved_ || moved;
    if (!moved) break;
  }
  if (!slices_.done()) return false;
  base_ += slices_.slices();
  return true;
}

// ---- failures -----------------------------------------------------------------------------------

void ShmCollective::Leave() {
  arena().rank(self()).left.store(1, std::memory_order_seq_cst);
  arena().RingOthers(self());
}

/// \param blamed  1 + the peer that left, if this rank gives up because of it; otherwise 0
void ShmCollective::FailBecauseOf(std::uint32_t blamed) {
  std::uint32_t none = 0;
  arena().header().failed.compare_exchange_strong(none, (self() + 1) | blamed << kBlamedShift);
  arena().RingOthers(self());
  posts_.waiter().Wake();
}

// An empty message means that another rank has given up. If its reason is a different call, this
// rank sees that call now.
Error ShmCollective::Fail(Error error, std::uint32_t blamed) {
  if (error.message.empty()) {
    if (Status same = posts_.Compare(); !same.ok())
      error = std::move(same).error();
    else
      error = FailureOfRank();
  }
  error_ = error;
  FailBecauseOf(blamed);
  return error;
}

// Describes the failure that another rank has announced.
Error ShmCollective::FailureOfRank() const {
  const std::uint32_t failed = arena().header().failed.load(std::memory_order_relaxed);
  const std::uint32_t place = (failed & kGivenUpMask) - 1, blamed = failed >> kBlamedShift;
  // Data in the arena is outside input.
  const bool valid = place < ranks() && blamed <= ranks();
  std::string text = valid ? fmt::format("rank {} has given up", posts_.RankAt(place))
                           : "a rank of this host has given up";
  Error error{Code::kPeerLost, ""};
  if (valid && blamed > 0) {
    error.lost_rank = static_cast<int>(posts_.RankAt(blamed - 1));
    text = fmt::format(
        "rank {} left the communicator (destroyed or aborted it) before operation {}: {}",
        error.lost_rank, posts_.number(), text);
  }
  error.message = fmt::format("{} while rank {} was in {} as operation {}", text,
                              posts_.RankAt(self()), posts_.CurrentCallText(), posts_.number());
  return error;
}

std::optional<Rank> ShmCollective::Awaits() const {
  if (std::holds_alternative<Idle>(phase_) || posts_.awaited() >= ranks()) return std::nullopt;
  return Rank{posts_.RankAt(posts_.awaited())};
}

std::string ShmCollective::WaitingFor() const {
  const std::string what = fmt::format("rank {} in {} as operation {}", posts_.RankAt(self()),
                                       posts_.CurrentCallText(), posts_.number());
  if (std::holds_alternative<Idle>(phase_)) return what + " waits for no rank";
  const std::uint32_t place = posts_.awaited();
  const std::uint32_t awaited = place < ranks() ? posts_.RankAt(place) : place;
  if (std::holds_alternative<Posting>(phase_))
    return fmt::format("{} waits for rank {} to finish an operation before", what, awaited);
  const auto* const direct = std::get_if<Direct>(&phase_);
  const auto* const slices = std::get_if<Slices>(&phase_);
  if (direct && direct->met)
    return fmt::format("{} waits for rank {} to finish with the memory of both ranks", what,
                       awaited);
  if (slices && slices->met)
    return fmt::format("{} waits for rank {}; {}", what, awaited, slices_.ToText());
  return fmt::format("{} waits for rank {} to {}", what, awaited, posts_.Awaited());
}

}  // namespace ringlet::collective
