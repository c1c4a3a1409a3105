// nccl_device.h: the arrangement and properties of ranks. Functions that require a GPU are refused.
#include "ringlet/compat/nccl_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "c_api/handle/guard.hpp"

namespace ringlet::c_api {
namespace {

Status NeedsGpu(const char* what) {
  return Error{Code::kUnsupported,
               fmt::format("{} needs a GPU: Ringlet moves CPU memory and runs no kernels; "
                           "ncclCommQueryProperties reports deviceApiSupport = false",
                           what)};
}

/// Number of ranks per host, if all hosts have equally many, consecutive ranks; otherwise 1.
std::uint32_t RanksOfEachHost(const comm::Communicator& communicator) {
  const auto& places = communicator.peer_table().places;
  const std::uint32_t here = communicator.peer_table().ranks_on_host;
  if (places.size() % here != 0) return 1;
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    if (places[rank].host != places[rank - rank % here].host) return 1;
  // Two blocks on the same host do not count as two hosts.
  return places.size() / here == communicator.peer_table().hosts.size() ? here : 1;
}

ncclTeam_t World(const comm::Communicator& communicator) {
  const comm::Identity& identity = communicator.identity();
  return {static_cast<int>(identity.size), static_cast<int>(Index(identity.rank)), 1};
}

/// Applies `team` to the communicator; 0 ranks on error.
template <typename Team>
ncclTeam_t TeamOf(const char* function, ncclComm_t comm, Team team) {
  ncclTeam_t made{0, 0, 0};
  static_cast<void>(Guard(function, [&]() -> Status {
    RINGLET_TRY_ASSIGN(const auto communicator, Find(comm));
    RINGLET_TRY_ASSIGN(made, team(*communicator));
    return Ok();
  }));
  return made;
}

Result<ncclTeam_t> Lsa(const comm::Communicator& communicator) {
  return ncclTeamInnerFactor(World(communicator), static_cast<int>(RanksOfEachHost(communicator)));
}

/// Number of `rank` of `team` in the team from `in`; -1 on error.
template <typename Team>
int NumberIn(const char* function, ncclComm_t comm, ncclTeam_t team, int rank, Team in) {
  const ncclTeam_t to = TeamOf(function, comm, in);
  return to.nRanks == 0 ? -1 : ncclTeamRankToTeam(to, team, rank);
}

Status QueryProperties(ncclComm_t comm, ncclCommProperties_t* out) {
  RINGLET_TRY(RequireNonNull(out, "props"));
  RINGLET_TRY_ASSIGN(const auto communicator, Find(comm));
  if (out->magic != NCCL_API_MAGIC)
    return Error{Code::kUnsupported, fmt::format("props->magic is {:#x}: it was not made with "
                                                 "NCCL_COMM_PROPERTIES_INITIALIZER",
                                                 out->magic)};
  constexpr std::size_t kHeadBytes = offsetof(ncclCommProperties_t, rank);
  if (out->size < kHeadBytes)
    return Error{Code::kInvalidArgument, fmt::format("props->size is {}", out->size)};
  const comm::Identity& identity = communicator->identity();
  ncclCommProperties_t all = NCCL_COMM_PROPERTIES_INITIALIZER;
  all.rank = static_cast<int>(Index(identity.rank));
  all.nRanks = static_cast<int>(identity.size);
  all.cudaDev = static_cast<int>(CudaDeviceOf(*communicator));
  all.nvmlDev = static_cast<int>(identity.device);
  all.nLsaTeams = all.nRanks / static_cast<int>(RanksOfEachHost(*communicator));
  all.hostRmaSupport = true;
  all.commHash = identity.magic;
  // A caller's struct may have an older, shorter version.
  std::memcpy(reinterpret_cast<std::byte*>(out) + kHeadBytes,
              reinterpret_cast<const std::byte*>(&all) + kHeadBytes,
              std::min(out->size, sizeof all) - kHeadBytes);
  return Ok();
}

Status MemStats(ncclComm_t comm, ncclCommMemStat_t stat, std::uint64_t* value) {
  RINGLET_TRY(RequireNonNull(value, "value"));
  RINGLET_TRY_ASSIGN(const auto communicator, Find(comm));
  const comm::Communicator::MemoryUse use = communicator->memory_use();
  switch (static_cast<int>(stat)) {
    case ncclStatGpuMemSuspend: *value = use.working; return Ok();
    case ncclStatGpuMemSuspended: {
      RINGLET_TRY_ASSIGN(const bool freed, IsFreed(comm));
      *value = freed ? 1 : 0;
      return Ok();
    }
    case ncclStatGpuMemPersist: *value = use.shared; return Ok();
    case ncclStatGpuMemTotal: *value = use.working + use.shared; return Ok();
  }
  return Error{Code::kInvalidArgument, fmt::format("stat is {}, which is not an ncclCommMemStat_t",
                                                   static_cast<int>(stat))};
}

Status Suspend(ncclComm_t comm, int flags) {
  if ((flags & ~NCCL_SUSPEND_MEM) != 0)
    return Error{Code::kInvalidArgument, fmt::format("flags {:#x} has unknown bits", flags)};
  RINGLET_TRY(AwaitIssued(comm));
  return MarkSuspended(comm, (flags & NCCL_SUSPEND_MEM) != 0);
}

}  // namespace
}  // namespace ringlet::c_api

namespace api = ringlet::c_api;

extern "C" {

ncclResult_t ncclCommSuspend(ncclComm_t comm, int flags) {
  return api::Guard("ncclCommSuspend", [&] { return api::Suspend(comm, flags); });
}

ncclResult_t ncclCommResume(ncclComm_t comm) {
  return api::Guard("ncclCommResume", [&] { return api::MarkResumed(comm); });
}

ncclResult_t ncclCommMemStats(ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value) {
  return api::Guard("ncclCommMemStats", [&] { return api::MemStats(comm, stat, value); });
}

ncclResult_t ncclCommQueryProperties(ncclComm_t comm, ncclCommProperties_t* props) {
  return api::Guard("ncclCommQueryProperties", [&] { return api::QueryProperties(comm, props); });
}

ncclTeam_t ncclTeamWorld(ncclComm_t comm) {
  return api::TeamOf("ncclTeamWorld", comm,
                     [](const auto& communicator) -> ringlet::Result<ncclTeam_t> {
                       return api::World(communicator);
                     });
}

ncclTeam_t ncclTeamLsa(ncclComm_t comm) {
  return api::TeamOf("ncclTeamLsa", comm, api::Lsa);
}

ncclTeam_t ncclTeamRail(ncclComm_t comm) {
  return api::TeamOf("ncclTeamRail", comm,
                     [](const auto& communicator) -> ringlet::Result<ncclTeam_t> {
                       const auto inner = static_cast<int>(api::RanksOfEachHost(communicator));
                       return ncclTeamOuterFactor(api::World(communicator), inner);
                     });
}

ncclTeam_t ncclTeamCft(ncclComm_t, ncclCftTeamMode_t) {
  static_cast<void>(api::Guard("ncclTeamCft", [] { return api::NeedsGpu("a CFT team"); }));
  return {0, 0, 0};
}

ncclTeam_t ncclTeamCftMultimem(ncclComm_t) {
  static_cast<void>(api::Guard("ncclTeamCftMultimem", [] { return api::NeedsGpu("a CFT team"); }));
  return {0, 0, 0};
}

int ncclTeamRankToWorld(ncclComm_t comm, ncclTeam_t team, int rank) {
  return api::NumberIn("ncclTeamRankToWorld", comm, team, rank,
                       [](const auto& communicator) -> ringlet::Result<ncclTeam_t> {
                         return api::World(communicator);
                       });
}

int ncclTeamRankToLsa(ncclComm_t comm, ncclTeam_t team, int rank) {
  return api::NumberIn("ncclTeamRankToLsa", comm, team, rank, api::Lsa);
}

int ncclLLA2ACalcSlots(int maxElts, int maxEltSize) {
  constexpr int kSlotBytes = 8;
  return maxElts * ((maxEltSize + kSlotBytes - 1) / kSlotBytes);
}

#define RINGLET_REFUSED(name, what, ...)                          \
  ncclResult_t name(__VA_ARGS__) {                                \
    return api::Guard(#name, [] { return api::NeedsGpu(what); }); \
  }                                                               \
  extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_REFUSED(ncclDevCommCreate, "a device communicator", ncclComm_t,
                const ncclDevCommRequirements_t*, ncclDevComm_t*);
RINGLET_REFUSED(ncclDevCommDestroy, "a device communicator", ncclComm_t, const ncclDevComm_t*);
RINGLET_REFUSED(ncclGetLsaMultimemDevicePointer, "multicast memory", ncclWindow_t, size_t, void**);
RINGLET_REFUSED(ncclGetMultimemDevicePointer, "multicast memory", ncclWindow_t, size_t,
                ncclMultimemHandle_t, void**);
RINGLET_REFUSED(ncclGetLsaDevicePointer, "a pointer for kernels", ncclWindow_t, size_t, int,
                void**);
RINGLET_REFUSED(ncclGetPeerDevicePointer, "a pointer for kernels", ncclWindow_t, size_t, int,
                void**);
RINGLET_REFUSED(ncclGetMultimemDeviceLeInfo, "a logical endpoint", ncclWindow_t, size_t,
                ncclCftLeId*, size_t*);
RINGLET_REFUSED(ncclGetCftDeviceLeInfo, "a logical endpoint", ncclWindow_t, size_t, int, ncclTeam_t,
                ncclCftLeId*, size_t*);
RINGLET_REFUSED(ncclGetPeerDeviceLeInfo, "a logical endpoint", ncclWindow_t, size_t, int,
                ncclCftLeId*, size_t*);
RINGLET_REFUSED(ncclLsaBarrierCreateRequirement, "a barrier of kernels", ncclTeam_t, int,
                ncclLsaBarrierHandle_t*, ncclDevResourceRequirements_t*);
RINGLET_REFUSED(ncclGinBarrierCreateRequirement, "a barrier of kernels", ncclComm_t, ncclTeam_t,
                int, ncclGinBarrierHandle_t*, ncclDevResourceRequirements_t*);
RINGLET_REFUSED(ncclCftBarrierCreateRequirement, "a barrier of kernels", ncclTeam_t, int,
                ncclCftBarrierHandle_t*, ncclDevResourceRequirements_t*);
RINGLET_REFUSED(ncclLLA2ACreateRequirement, "an all-to-all of kernels", int, int,
                ncclLLA2AHandle_t*, ncclDevResourceRequirements_t*);
RINGLET_REFUSED(ncclGinOutboxCreateRequirement, "an outbox of kernels", int, int,
                ncclGinOutboxHandle_t*, ncclDevResourceRequirements_t*);
RINGLET_REFUSED(ncclGinInboxA2ACreateRequirement, "an inbox of kernels", ncclTeam_t, int, int,
                ncclGinInboxA2AHandle_t*, ncclDevResourceRequirements_t*);
#undef RINGLET_REFUSED

// Profiling aliases: a tool that defines ncclX calls the original as pncclX.
#define RINGLET_TWIN(name) extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_TWIN(ncclCommSuspend);
RINGLET_TWIN(ncclCommResume);
RINGLET_TWIN(ncclCommMemStats);
RINGLET_TWIN(ncclCommQueryProperties);
RINGLET_TWIN(ncclTeamWorld);
RINGLET_TWIN(ncclTeamLsa);
RINGLET_TWIN(ncclTeamRail);
RINGLET_TWIN(ncclTeamCft);
RINGLET_TWIN(ncclTeamCftMultimem);
RINGLET_TWIN(ncclTeamRankToWorld);
RINGLET_TWIN(ncclTeamRankToLsa);
RINGLET_TWIN(ncclLLA2ACalcSlots);
#undef RINGLET_TWIN

}  // extern "C"
