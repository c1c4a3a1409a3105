#include "comm/establish/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "comm/establish/root.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet::comm {
namespace {

// A failure usually reaches all ranks within this time.
constexpr std::chrono::milliseconds kNewsOfFailure(1000);
// An attempt fails if a rank was lost, or if ranks knew of different lost ranks. In the simulated
// jobs of reform_test, d deaths take at most 2 d + 4 attempts.
constexpr std::uint32_t AttemptsMax(std::uint32_t ranks) {
  return 2 * ranks + 8;
}

// Returns the only id among the entries of all ranks of the parent.
Result<UniqueId> TheId(const bootstrap::Table& table) {
  std::vector<std::uint32_t> givers;
  UniqueId id;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    const View given = table.At(Rank{rank});
    if (given.empty()) continue;
    if (given.size() != UniqueId::kBytes)
      return Error{Code::kProtocol, fmt::format("rank {} passed {} bytes that are not a unique id",
                                                rank, given.size())};
    givers.push_back(rank);
    std::ranges::copy(given, id.bytes.begin());
  }
  if (givers.size() == 1) return id;
  return Error{Code::kInvalidArgument,
               givers.empty()
                   ? "no rank passed a unique id to Grow; exactly one must"
                   : fmt::format("ranks {} all passed a unique id to Grow; exactly one must",
                                 bootstrap::RangesText(givers))};
}

Status CheckGrowth(const Communicator& parent, std::uint32_t size, const UniqueId& id) {
  const std::uint32_t before = parent.identity().size;
  RINGLET_TRY_ASSIGN(const rendezvous::Invitation invitation, rendezvous::Decode(id));
  if (invitation.parent_size != before)
    return Error{Code::kInvalidArgument,
                 fmt::format("the id was not made to grow this communicator of {} ranks{}", before,
                             invitation.parent_size == 0
                                 ? std::string()
                                 : fmt::format(" but one of {}", invitation.parent_size))};
  if (size <= before)
    return Error{Code::kInvalidArgument,
                 fmt::format("a communicator of {} ranks cannot grow to {}", before, size)};
  return Ok();
}

// Requests to the parent's ranks cannot be withdrawn. While this object lives, an abort on this
// rank aborts the parent and so reaches them.
class AbortsParent {
 public:
  AbortsParent(Communicator& parent, const std::stop_token& abort)
      : told_(abort, AbortOnStop{parent}) {}

 private:
  struct AbortOnStop {
    Communicator& parent;
    void operator()() const {
      parent.Abort("the formation of a new communicator from it was aborted");
    }
  };
  std::stop_callback<AbortOnStop> told_;
};

// Begins the time line of a child that may continue its parent: with the failure of the parent, if
// it has failed and no other child continues it already.
Timeline TimelineOf(const Communicator& parent) {
  const Instant failed_at = parent.control().failed_at();
  return failed_at == Instant(0) || parent.control().has_shrunk()
             ? Timeline("EstablishChild")
             : Timeline::AfterFailure("Recovery", failed_at);
}

// Establishes the child. Its errors name ranks by their numbers in the parent.
Result<std::unique_ptr<Communicator>> FormChild(const Communicator& parent,
                                                std::unique_ptr<Control> control, Timeline timeline,
                                                const std::stop_token& abort) {
  const std::vector<std::uint32_t> ranks = control->ranks_of_parent();
  auto child = EstablishChild(parent, std::move(control), std::move(timeline), abort);
  if (child.ok()) return child;
  Error error = std::move(child).error();
  const auto lost = static_cast<std::size_t>(error.lost_rank);  // too large for `ranks` if it is -1
  error.lost_rank = lost < ranks.size() ? static_cast<int>(ranks[lost]) : -1;
  return error;
}

// Returns `result`. New ranks wait only at the id's root, so a root in this process refuses them
// with the error.
template <typename T>
Result<T> RefusedToNew(const Communicator& parent, const std::optional<UniqueId>& id,
                       Result<T> result) {
  const auto invitation =
      id && !result.ok() ? rendezvous::Decode(*id) : Result<rendezvous::Invitation>(Error{});
  if (invitation.ok())
    parent.origin().process->roots().Refuse(
        invitation->credentials.magic,
        {result.error().code, bootstrap::kNoOrigin,
         "the communicator was not grown: " + result.error().message});
  return result;
}

// A revoked communicator has failed, but its ranks still exist and know each other. They form a new
// one, which is then split.
Result<std::unique_ptr<Control>> SplitRevoked(const Communicator& parent,
                                              std::optional<std::int32_t> color, std::int32_t key,
                                              const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(const auto anew, parent.control().Shrink({}));
  const std::stop_callback told(abort, [&] {
    anew->Fail({Code::kAborted, "the formation of a child communicator was aborted"});
  });
  return anew->Split(color, key);
}

}  // namespace

Result<std::unique_ptr<Communicator>> Split(Communicator& parent, std::optional<std::int32_t> color,
                                            std::int32_t key, const std::stop_token& abort) {
  Timeline timeline("EstablishChild");
  if (parent.revoked()) {
    RINGLET_TRY_ASSIGN(auto revived, SplitRevoked(parent, color, key, abort));
    if (!revived) return std::unique_ptr<Communicator>();
    return FormChild(parent, std::move(revived), std::move(timeline), abort);
  }
  std::optional<Occupancy> occupancy(std::in_place, parent.single_use());
  RINGLET_TRY(occupancy->Check());
  std::optional<AbortsParent> aborts(std::in_place, parent, abort);
  RINGLET_TRY_ASSIGN(auto control, parent.control().Split(color, key));
  occupancy.reset();
  aborts.reset();
  if (!control) return std::unique_ptr<Communicator>();
  return FormChild(parent, std::move(control), std::move(timeline), abort);
}

Result<std::unique_ptr<Communicator>> Shrink(const Communicator& parent,
                                             std::vector<std::uint32_t> excluded,
                                             const std::stop_token& abort) {
  Timeline timeline = TimelineOf(parent);
  RINGLET_TRY_ASSIGN(auto control, parent.control().Shrink(std::move(excluded)));
  return FormChild(parent, std::move(control), std::move(timeline), abort);
}

Result<std::unique_ptr<Communicator>> Reform(const Communicator& parent, std::uint32_t ranks_min,
                                             const std::stop_token& abort) {
  // Another rank may have called it earlier, because it learned of the failure earlier.
  if (!parent.control().AwaitFailure(kNewsOfFailure))
    return Error{Code::kInvalidArgument,
                 "the communicator has not failed: to leave out ranks that still exist, shrink it"};
  const Timeline timeline = TimelineOf(parent);
  Result<std::unique_ptr<Communicator>> child = Error{};
  for (std::uint32_t attempt = 0; attempt < AttemptsMax(parent.identity().size); ++attempt) {
    RINGLET_TRY_ASSIGN(auto control, parent.control().Reform());
    child = FormChild(parent, std::move(control), timeline, abort);
    if (child.ok() || child.error().code != Code::kPeerLost) break;
  }
  // Only now, because a rank that gives up earlier would let the others wait for it.
  if (!child.ok() || (*child)->identity().size >= ranks_min) return child;
  return Error{Code::kInvalidArgument,
               fmt::format("of {} ranks, {} remain, which is less than the minimum of {}",
                           parent.identity().size, (*child)->identity().size, ranks_min)};
}

Result<UniqueId> CreateGrowthId(const Communicator& parent) {
  return CreateUniqueId(parent.origin().process, parent.identity().size);
}

Result<std::unique_ptr<Communicator>> Grow(Communicator& parent, std::uint32_t size,
                                           const std::optional<UniqueId>& id,
                                           const std::stop_token& abort) {
  std::optional<Occupancy> occupancy(std::in_place, parent.single_use());
  RINGLET_TRY(occupancy->Check());
  Bytes own;
  if (id) own.assign(id->bytes.begin(), id->bytes.end());
  std::optional<AbortsParent> aborts(std::in_place, parent, abort);
  const auto given = RefusedToNew(parent, id, parent.control().AllGather(std::move(own)));
  if (!given.ok()) return given.error();
  aborts.reset();
  occupancy.reset();
  Config config = parent.origin().config;
  RINGLET_TRY_ASSIGN(config.id, TheId(*given));
  RINGLET_TRY(CheckGrowth(parent, size, config.id));
  config.more_ids.clear();
  config.size = size;
  config.grows = true;
  return RefusedToNew(parent, config.id, Establish(parent.origin().process, config, abort));
}

}  // namespace ringlet::comm
