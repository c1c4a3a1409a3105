// Communicators that grow: ncclCommGetUniqueId and ncclCommGrow.
#include <fmt/format.h>

#include "c_api/group.hpp"
#include "comm/establish/split.hpp"

namespace ringlet::c_api {
namespace {

/// The arguments of both old and new ranks.
struct Growth {
  int size;
  const ncclUniqueId* id;
  int rank;
  ncclComm_t* out;
  const ncclConfig_t* config;
};

Result<bool> GrowFrom(ncclComm_t parent, const Growth& growth) {
  RINGLET_TRY_ASSIGN(FormedCommunicator held, FindActive(parent));
  if (growth.rank != -1)
    return Error{Code::kInvalidArgument,
                 fmt::format("rank is {}: a rank of comm must pass -1, because it keeps its number",
                             growth.rank)};
  const std::uint32_t before = held.communicator->identity().size;
  if (static_cast<std::uint32_t>(growth.size) <= before)
    return Error{Code::kInvalidArgument,
                 fmt::format("nRanks is {}: comm already has {} ranks", growth.size, before)};
  RINGLET_TRY_ASSIGN(const CommOptions options, OptionsOf(growth.config, held.options));
  std::optional<UniqueId> id = UseGrowthId(parent);
  if (growth.id) id = FromNccl(*growth.id);
  return SubmitInit(
      {[communicator = std::move(held.communicator), id,
        size = static_cast<std::uint32_t>(growth.size)](const std::stop_token& abort) {
         return comm::Grow(*communicator, size, id, abort);
       },
       growth.out, options, parent});
}

Result<bool> JoinGrown(const Growth& growth) {
  RINGLET_TRY(RequireNonNull(growth.id, "uniqueId"));
  if (growth.rank < 0 || growth.rank >= growth.size)
    return Error{Code::kInvalidArgument, fmt::format("rank {} is not between 0 and nRanks - 1 = {}",
                                                     growth.rank, growth.size - 1)};
  RINGLET_TRY_ASSIGN(const CommOptions options, OptionsOf(growth.config, {}));
  RINGLET_TRY_ASSIGN(auto process, CurrentProcess());
  comm::Config config;
  config.id = FromNccl(*growth.id);
  config.rank = static_cast<std::uint32_t>(growth.rank);
  config.size = static_cast<std::uint32_t>(growth.size);
  PlaceOnDevice(config, process->settings());
  return SubmitInit(
      {[process = std::move(process), config = std::move(config)](const std::stop_token& abort) {
         return comm::Establish(process, config, abort);
       },
       growth.out, options});
}

Result<bool> Grow(ncclComm_t parent, const Growth& growth) {
  RINGLET_TRY(RequireNonNull(growth.out, "newcomm"));
  *growth.out = nullptr;
  if (growth.size < 1)
    return Error{Code::kInvalidArgument, fmt::format("nRanks is {}, below 1", growth.size)};
  return parent ? GrowFrom(parent, growth) : JoinGrown(growth);
}

}  // namespace
}  // namespace ringlet::c_api

namespace api = ringlet::c_api;

extern "C" {

ncclResult_t ncclCommGetUniqueId(ncclComm_t comm, ncclUniqueId* uniqueId) {
  return api::Guard("ncclCommGetUniqueId", [&]() -> ringlet::Status {
    RINGLET_TRY(api::RequireNonNull(uniqueId, "uniqueId"));
    RINGLET_TRY_ASSIGN(const ringlet::UniqueId id,
                       api::TakeGrowthId(comm, [](ringlet::comm::Communicator& communicator) {
                         return ringlet::comm::CreateGrowthId(communicator);
                       }));
    *uniqueId = api::ToNccl(id);
    return ringlet::Ok();
  });
}

ncclResult_t ncclCommGrow(ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank,
                          ncclComm_t* newcomm, ncclConfig_t* config) {
  return api::GuardBegun("ncclCommGrow", [&] {
    return api::Grow(comm, {nRanks, uniqueId, rank, newcomm, config});
  });
}

// Profiling aliases: a tool that defines ncclX calls the original as pncclX.
#define RINGLET_TWIN(name) extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_TWIN(ncclCommGetUniqueId);
RINGLET_TWIN(ncclCommGrow);
#undef RINGLET_TWIN

}  // extern "C"
