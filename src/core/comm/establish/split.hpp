// Communicators made from communicators: of some of their ranks, or with new ones.
//
// The ranks concerned call these functions in the same order. Each blocks as Establish does, and
// does not change the parent: parent and child live and end independently. Split and Shrink need no
// root and no id, because the child's ranks reuse their connections.
#pragma once
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "comm/establish/establish.hpp"

namespace ringlet::comm {

/// Called by all ranks of `parent`, which has not failed or was revoked by all. Ranks of the same
/// colour form one communicator, in the order of their keys, then of their ranks. All colours
/// together cost one all-gather over the parent. Then each child forms by itself.
/// \param color  empty: this rank takes part in the call but is in no child, and gets null
/// \param abort  before all ranks have called, it aborts the parent, because the requests to them
///               cannot be withdrawn. This also holds for Grow.
/// Errors  as Establish; and the parent's failure
Result<std::unique_ptr<Communicator>> Split(Communicator& parent, std::optional<std::int32_t> color,
                                            std::int32_t key, const std::stop_token& abort);

/// Called by all ranks of `parent` except those in `excluded`, which may be dead: the parent may
/// have failed. Ranks keep their order. Errors name ranks by their numbers in `parent`.
/// \param excluded  ranks of the parent, in any order, the same on all callers
/// Errors  kInvalidArgument  a rank that does not exist, or the caller's own; callers that exclude
///                           different ranks; and as Establish
Result<std::unique_ptr<Communicator>> Shrink(const Communicator& parent,
                                             std::vector<std::uint32_t> excluded,
                                             const std::stop_token& abort);

/// Called by the ranks of `parent` that still exist, after it has failed. They agree on the lost
/// ranks, also while more ranks are lost, and keep their order. Errors name ranks by their numbers
/// in `parent`.
/// \param ranks_min  fewer remaining ranks are an error; the same on all callers
/// Errors  kInvalidArgument  `parent` has not failed; too few ranks remain
///         kPeerLost         the other ranks have lost this one; and as Establish
Result<std::unique_ptr<Communicator>> Reform(const Communicator& parent, std::uint32_t ranks_min,
                                             const std::stop_token& abort);

/// Returns an id with which `parent` grows. One rank makes it and passes it to its own Grow and to
/// the new processes.
Result<UniqueId> CreateGrowthId(const Communicator& parent);

/// Called by all ranks of `parent`, which keep their ranks. New processes call Establish with the
/// id, the new size and ranks from the parent's size up.
/// \param id  on exactly one rank of the parent
/// Errors  kInvalidArgument  no rank or two ranks passed an id; an id of another communicator; a
///                           size not above the parent's; and as Establish
Result<std::unique_ptr<Communicator>> Grow(Communicator& parent, std::uint32_t size,
                                           const std::optional<UniqueId>& id,
                                           const std::stop_token& abort);

}  // namespace ringlet::comm
