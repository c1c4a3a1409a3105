// NCCL's C API: checks the arguments, calls comm, translates the error. Makes no decisions.
#include "ringlet/compat/nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "c_api/group.hpp"
#include "c_api/handle/guard.hpp"
#include "comm/establish/establish.hpp"
#include "comm/establish/split.hpp"
#include "ringlet/errors.h"

namespace ringlet::c_api {
namespace {

/// Exceeds the number of threads of any process.
constexpr int kRanksHereMax = 1 << 16;

Status CheckRank(int nranks, int rank) {
  if (nranks < 1)
    return Error{Code::kInvalidArgument, fmt::format("nranks is {}, below 1", nranks)};
  if (rank < 0 || rank >= nranks)
    return Error{Code::kInvalidArgument,
                 fmt::format("rank {} is not between 0 and nranks - 1 = {}", rank, nranks - 1)};
  return Ok();
}

Result<bool> SubmitEstablish(std::shared_ptr<comm::Process> process, comm::Config config,
                             const CommOptions& options, ncclComm_t* out) {
  *out = nullptr;
  return SubmitInit(
      {[process = std::move(process), config = std::move(config)](const std::stop_token& abort) {
         return comm::Establish(process, config, abort);
       },
       out, options});
}

Result<bool> InitRank(ncclComm_t* comm, int nranks, std::span<const ncclUniqueId> ids, int rank,
                      const ncclConfig_t* given) {
  RINGLET_TRY_ASSIGN(const CommOptions options, OptionsOf(given, {}));
  RINGLET_TRY(RequireNonNull(comm, "comm"));
  RINGLET_TRY(CheckRank(nranks, rank));
  RINGLET_TRY_ASSIGN(auto process, CurrentProcess());
  comm::Config config;
  config.id = FromNccl(ids.front());
  for (const ncclUniqueId& id : ids.subspan(1)) config.more_ids.push_back(FromNccl(id));
  config.rank = static_cast<std::uint32_t>(rank);
  config.size = static_cast<std::uint32_t>(nranks);
  PlaceOnDevice(config, process->settings());
  return SubmitEstablish(std::move(process), std::move(config), options, comm);
}

Status CheckDeviceList(std::span<const int> devices, bool may_share) {
  std::set<int> seen;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] < 0)
      return Error{Code::kInvalidArgument,
                   fmt::format("devlist[{}] = {} is negative", i, devices[i])};
    if (!seen.insert(devices[i]).second && !may_share)
      return Error{Code::kInvalidArgument,
                   fmt::format("devlist[{}] = {} occurs twice: give each rank a device of its own, "
                               "or set RINGLET_MULTI_RANK_GPU_ENABLE=1",
                               i, devices[i])};
  }
  return Ok();
}

Status InitAll(ncclComm_t* comms, int ndev, const int* devlist) {
  RINGLET_TRY(RequireNonNull(comms, "comm"));
  if (ndev < 1 || ndev > kRanksHereMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("ndev is {}, not between 1 and {}", ndev, kRanksHereMax)};
  RINGLET_TRY_ASSIGN(const auto process, CurrentProcess());
  RINGLET_TRY(CheckDeviceList({devlist, devlist ? static_cast<std::size_t>(ndev) : 0},
                              process->settings().multi_rank_gpu));
  std::vector<comm::Config> configs(static_cast<std::size_t>(ndev));
  for (int i = 0; i < ndev; ++i) {
    comm::Config& config = configs[static_cast<std::size_t>(i)];
    config.rank = static_cast<std::uint32_t>(i);
    config.size = static_cast<std::uint32_t>(ndev);
    config.expects_one_host = true;
    RINGLET_TRY(NameDevice(config, devlist ? devlist[i] : i));
  }
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  StartGroup();
  for (comm::Config& config : configs) {
    config.id = id;
    RINGLET_TRY(SubmitEstablish(process, config, {}, &comms[config.rank]));
  }
  RINGLET_TRY(EndGroup());
  return Ok();
}

Result<bool> InitScalable(ncclComm_t* comm, int nranks, int rank, int ids, const ncclUniqueId* list,
                          const ncclConfig_t* config) {
  RINGLET_TRY(RequireNonNull(list, "commIds"));
  if (ids < 1 || ids > nranks)
    return Error{Code::kInvalidArgument,
                 fmt::format("nId is {}, not between 1 and nranks = {}", ids, nranks)};
  return InitRank(comm, nranks, std::span(list, static_cast<std::size_t>(ids)), rank, config);
}

Result<bool> SplitOff(ncclComm_t comm, int color, int key, ncclComm_t* out,
                      const ncclConfig_t* config) {
  RINGLET_TRY(RequireNonNull(out, "newcomm"));
  *out = nullptr;
  RINGLET_TRY(OptionsOf(config, {}));
  RINGLET_TRY_ASSIGN(FormedCommunicator held, FindParent(comm));
  RINGLET_TRY_ASSIGN(const CommOptions options, OptionsOf(config, held.options));
  const auto chosen =
      color == NCCL_SPLIT_NOCOLOR ? std::nullopt : std::optional<std::int32_t>(color);
  return SubmitInit(
      {[parent = std::move(held.communicator), chosen, key](const std::stop_token& abort) {
         return comm::Split(*parent, chosen, key, abort);
       },
       out, options, comm, chosen.has_value()});
}

Result<std::vector<std::uint32_t>> ExcludedRanks(const int* excluded, int count,
                                                 const comm::Identity& identity) {
  if (count < 1 || static_cast<std::uint32_t>(count) >= identity.size)
    return Error{Code::kInvalidArgument,
                 fmt::format("excludeRanksCount is {}: of {} ranks, the call must exclude at least "
                             "one and keep at least one",
                             count, identity.size)};
  std::vector<std::uint32_t> ranks;
  for (int i = 0; i < count; ++i) {
    if (excluded[i] < 0 || static_cast<std::uint32_t>(excluded[i]) >= identity.size)
      return Error{Code::kInvalidArgument,
                   fmt::format("excludeRanksList[{}] is {}, not between 0 and {}", i, excluded[i],
                               identity.size - 1)};
    ranks.push_back(static_cast<std::uint32_t>(excluded[i]));
  }
  if (std::ranges::count(ranks, Index(identity.rank)) > 0)
    return Error{Code::kInvalidArgument, fmt::format("excludeRanksList has rank {}, the caller; an "
                                                     "excluded rank does not call ncclCommShrink",
                                                     Index(identity.rank))};
  return ranks;
}

Result<bool> ShrinkTo(ncclComm_t comm, const int* excluded, int count, ncclComm_t* out,
                      const ncclConfig_t* config, int flags) {
  RINGLET_TRY(RequireNonNull(out, "newcomm"));
  *out = nullptr;
  RINGLET_TRY(OptionsOf(config, {}));
  RINGLET_TRY(RequireNonNull(excluded, "excludeRanksList"));
  if (flags != NCCL_SHRINK_DEFAULT && flags != NCCL_SHRINK_ABORT)
    return Error{Code::kInvalidArgument,
                 fmt::format("shrinkFlags is {}, not NCCL_SHRINK_DEFAULT or _ABORT", flags)};
  const bool aborts = flags == NCCL_SHRINK_ABORT;
  RINGLET_TRY_ASSIGN(const FormedCommunicator held, aborts ? FindRunning(comm) : FindParent(comm));
  RINGLET_TRY_ASSIGN(const CommOptions options, OptionsOf(config, held.options));
  RINGLET_TRY_ASSIGN(auto ranks, ExcludedRanks(excluded, count, held.communicator->identity()));
  if (aborts) {
    held.communicator->Abort("ncclCommShrink ends it for the survivors");
    AwaitIdle(comm);
  }
  return SubmitInit(
      {[parent = held.communicator, ranks = std::move(ranks)](const std::stop_token& abort) {
         return comm::Shrink(*parent, ranks, abort);
       },
       out, options, comm});
}

Result<bool> ReformTo(ncclComm_t comm, int ranks_min, ncclComm_t* out) {
  RINGLET_TRY(RequireNonNull(out, "newcomm"));
  *out = nullptr;
  if (ranks_min < 1)
    return Error{Code::kInvalidArgument, fmt::format("minRanks is {}, not positive", ranks_min)};
  RINGLET_TRY_ASSIGN(const FormedCommunicator held, FindRunning(comm));
  AwaitIdle(comm);
  return SubmitInit(
      {[parent = held.communicator, ranks_min = static_cast<std::uint32_t>(ranks_min)](
           const std::stop_token& abort) { return comm::Reform(*parent, ranks_min, abort); },
       out, held.options, comm});
}

Status Revoke(ncclComm_t comm, int flags) {
  if (flags != NCCL_REVOKE_DEFAULT)
    return Error{Code::kInvalidArgument,
                 fmt::format("revokeFlags is {}, not NCCL_REVOKE_DEFAULT", flags)};
  RINGLET_TRY_ASSIGN(const FormedCommunicator held, FindRunning(comm));
  if (held.communicator->revoked())
    return Error{Code::kUnsupported, "the communicator is revoked already"};
  held.communicator->Revoke();
  if (const auto issued = FindIssued(comm)) issued->order()->TolerateFailures();
  return Ok();
}

Status SimulateEnd(const ncclSimInfo_t* info) {
  const Status checked = CheckSimInfo(info);
  const Error why = checked.ok() ? Error{Code::kUnsupported,
                                         "ncclGroupSimulateEnd does not estimate times yet: it "
                                         "closes the group without running its calls"}
                                 : checked.error();
  RINGLET_TRY(DropGroup(why));
  return why;
}

template <typename T, typename Get>
Status Read(ncclComm_t comm, T* out, const char* name, Get get) {
  RINGLET_TRY(RequireNonNull(out, name));
  RINGLET_TRY_ASSIGN(const auto communicator, Find(comm));
  *out = static_cast<T>(get(*communicator));
  return Ok();
}

}  // namespace
}  // namespace ringlet::c_api

namespace api = ringlet::c_api;
using ringlet::Ok;
using ringlet::Status;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  return api::Guard("ncclGetVersion", [&]() -> Status {
    RINGLET_TRY(api::RequireNonNull(version, "version"));
    *version = NCCL_VERSION_CODE;
    return Ok();
  });
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error (ncclGetLastError describes it)";
    case ncclInternalError: return "internal error - please report this issue to Ringlet";
    case ncclInvalidArgument: return "invalid argument (ncclGetLastError describes it)";
    case ncclInvalidUsage: return "invalid usage (ncclGetLastError describes it)";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "operation in progress";
    case ncclTimeout: return "timeout (ncclGetLastError names the silent rank)";
    case ncclNumResults: break;
  }
  return "unknown result code";
}

const char* ncclGetLastError(ncclComm_t) {
  return api::LastError();
}

int ringletLastLostRank(void) {
  return api::LastLostRank();
}

void ncclResetDebugInit(void) {}
void ncclResetDebugInitInternal(void) {}

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  return api::Guard("ncclGetUniqueId", [&]() -> Status {
    RINGLET_TRY(api::RequireNonNull(uniqueId, "uniqueId"));
    RINGLET_TRY_ASSIGN(const auto process, api::CurrentProcess());
    RINGLET_TRY_ASSIGN(const ringlet::UniqueId id, ringlet::comm::NextUniqueId(process));
    *uniqueId = api::ToNccl(id);
    return Ok();
  });
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return api::GuardBegun("ncclCommInitRank", [&] {
    return api::InitRank(comm, nranks, {&commId, 1}, rank, nullptr);
  });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank,
                                    ncclConfig_t* config) {
  return api::GuardBegun("ncclCommInitRankConfig", [&] {
    return api::InitRank(comm, nranks, {&commId, 1}, rank, config);
  });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  return api::GuardInGroup("ncclCommInitAll", [&] { return api::InitAll(comm, ndev, devlist); });
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId,
                                      ncclUniqueId* commIds, ncclConfig_t* config) {
  return api::GuardBegun("ncclCommInitRankScalable", [&] {
    return api::InitScalable(newcomm, nranks, myrank, nId, commIds, config);
  });
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                           ncclConfig_t* config) {
  return api::GuardBegun("ncclCommSplit",
                         [&] { return api::SplitOff(comm, color, key, newcomm, config); });
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excludeRanksList, int excludeRanksCount,
                            ncclComm_t* newcomm, ncclConfig_t* config, int shrinkFlags) {
  return api::GuardBegun("ncclCommShrink", [&] {
    return api::ShrinkTo(comm, excludeRanksList, excludeRanksCount, newcomm, config, shrinkFlags);
  });
}

int ringletCommReform(ncclComm_t comm, int minRanks, ncclComm_t* newcomm) {
  return api::GuardBegun("ringletCommReform",
                         [&] { return api::ReformTo(comm, minRanks, newcomm); });
}

ncclResult_t ncclCommRevoke(ncclComm_t comm, int revokeFlags) {
  return api::Guard("ncclCommRevoke", [&] { return api::Revoke(comm, revokeFlags); });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  bool goes_on = false;
  const ncclResult_t result = api::Guard("ncclCommFinalize", [&]() -> Status {
    RINGLET_TRY_ASSIGN(goes_on, api::MarkFinalized(comm));
    return Ok();
  });
  return result == ncclSuccess && goes_on ? ncclInProgress : result;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm) return ncclSuccess;  // as NCCL: null is valid
  return api::Guard("ncclCommDestroy", [&] { return api::Take(comm); });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (!comm) return ncclSuccess;
  return api::Guard("ncclCommAbort",
                    [&] { return api::TakeAborted(comm, "ncclCommAbort was called"); });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  return api::Guard("ncclCommGetAsyncError", [&]() -> Status {
    RINGLET_TRY(api::RequireNonNull(asyncError, "asyncError"));
    RINGLET_TRY_ASSIGN(const api::CommunicatorState state, api::StateOf(comm));
    if (state.failure) api::RecordLastError(*state.failure);
    *asyncError = state.in_progress ? ncclInProgress
                  : state.failure   ? api::ToResult(state.failure->code)
                                    : ncclSuccess;
    return Ok();
  });
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return api::Guard("ncclCommCount", [&] {
    return api::Read(comm, count, "count",
                     [](const auto& communicator) { return communicator.identity().size; });
  });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return api::Guard("ncclCommCuDevice",
                    [&] { return api::Read(comm, device, "device", api::CudaDeviceOf); });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return api::Guard("ncclCommUserRank", [&] {
    return api::Read(comm, rank, "rank", [](const auto& communicator) {
      return ringlet::Index(communicator.identity().rank);
    });
  });
}

ncclResult_t ncclGroupStart(void) {
  api::StartGroup();
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
  bool goes_on = false;
  const ncclResult_t result = api::Guard("ncclGroupEnd", [&]() -> Status {
    RINGLET_TRY_ASSIGN(goes_on, api::EndGroup());
    return Ok();
  });
  return result == ncclSuccess && goes_on ? ncclInProgress : result;
}

ncclResult_t ncclGroupSimulateEnd(ncclSimInfo_t* simInfo) {
  return api::Guard("ncclGroupSimulateEnd", [&] { return api::SimulateEnd(simInfo); });
}

// Profiling aliases: a tool that defines ncclX calls the original as pncclX.
#define RINGLET_TWIN(name) extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_TWIN(ncclGetVersion);
RINGLET_TWIN(ncclGetErrorString);
RINGLET_TWIN(ncclGetLastError);
RINGLET_TWIN(ncclResetDebugInit);
RINGLET_TWIN(ncclResetDebugInitInternal);
RINGLET_TWIN(ncclGetUniqueId);
RINGLET_TWIN(ncclCommInitRank);
RINGLET_TWIN(ncclCommInitRankConfig);
RINGLET_TWIN(ncclCommInitAll);
RINGLET_TWIN(ncclCommInitRankScalable);
RINGLET_TWIN(ncclCommSplit);
RINGLET_TWIN(ncclCommShrink);
RINGLET_TWIN(ncclCommRevoke);
RINGLET_TWIN(ncclCommFinalize);
RINGLET_TWIN(ncclCommDestroy);
RINGLET_TWIN(ncclCommAbort);
RINGLET_TWIN(ncclCommGetAsyncError);
RINGLET_TWIN(ncclCommCount);
RINGLET_TWIN(ncclCommCuDevice);
RINGLET_TWIN(ncclCommUserRank);
RINGLET_TWIN(ncclGroupStart);
RINGLET_TWIN(ncclGroupEnd);
RINGLET_TWIN(ncclGroupSimulateEnd);
#undef RINGLET_TWIN

}  // extern "C"
