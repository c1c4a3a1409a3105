// Memory of NCCL's C API: allocation, registration, windows.
#include <fmt/format.h>

#include "c_api/handle/guard.hpp"
#include "c_api/handle/handles.hpp"
#include "stream/current_device.hpp"

/// Host CUDA of `ringlet emulate`, if loaded: registers NCCL's memory as device memory.
extern "C" __attribute__((weak)) void ringlet_host_memory(void* begin, size_t bytes, int device,
                                                          int present);

namespace ringlet::c_api {
namespace {

void AnnounceToHostCuda(void* memory, std::size_t bytes, bool present) {
  if (ringlet_host_memory == nullptr) return;
  ringlet_host_memory(memory, bytes, stream::CurrentDevice(), present ? 1 : 0);
}

// Handles are numbers that are never reused within a communicator. They have NCCL's pointer types
// but are never dereferenced.
constexpr std::uintptr_t kRegistrationStep = 16;
constexpr std::uintptr_t kWindowMark = 8;  // marks windows, to distinguish them from registrations

Status CheckMemory(const void* buffer, std::size_t size) {
  RINGLET_TRY(RequireMemory(buffer, "buff"));
  if (size > 0 && size <= collective::kMemoryMax) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("size is {}: {}", size,
                           size == 0 ? "there is nothing to register" : "it exceeds all memory")};
}

Status Register(ncclComm_t comm, const void* buffer, std::size_t size, void** handle) {
  RINGLET_TRY(CheckMemory(buffer, size));
  RINGLET_TRY(RequireNonNull(handle, "handle"));
  RINGLET_TRY_ASSIGN(const FormedCommunicator held, FindActive(comm));
  RINGLET_TRY_ASSIGN(const std::uint64_t number, held.communicator->one_sided().Register(View(
                                                     static_cast<const std::byte*>(buffer), size)));
  *handle = reinterpret_cast<void*>(number * kRegistrationStep);  // NOLINT
  return Ok();
}

// Works on a finalized or failed communicator too.
Status Deregister(ncclComm_t comm, const void* handle) {
  RINGLET_TRY(RequireNonNull(handle, "handle"));
  RINGLET_TRY_ASSIGN(const auto communicator, Find(comm));
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number % kRegistrationStep != 0)
    return Error{Code::kInvalidArgument, "handle does not name a registration"};
  return communicator->one_sided().Deregister(number / kRegistrationStep);
}

Status Allocate(void** memory, std::size_t size) {
  RINGLET_TRY(RequireNonNull(memory, "ptr"));
  *memory = nullptr;
  if (size == 0) return Ok();
  RINGLET_TRY_ASSIGN(const auto process, CurrentProcess());
  RINGLET_TRY_ASSIGN(*memory, process->heap().Allocate(size));
  AnnounceToHostCuda(*memory, size, true);
  return Ok();
}

Status Free(void* memory) {
  if (!memory) return Ok();
  RINGLET_TRY_ASSIGN(const auto process, CurrentProcess());
  return process->heap().Free(memory, [&] { AnnounceToHostCuda(memory, 0, false); });
}

Status RegisterWindow(ncclComm_t comm, void* buffer, std::size_t size, ncclWindow_t* window,
                      int flags) {
  constexpr int kGpuFlags = NCCL_WIN_GIN_ONLY | NCCL_WIN_CFT_COUNTED;
  RINGLET_TRY(CheckMemory(buffer, size));
  RINGLET_TRY(RequireNonNull(window, "win"));
  if ((flags & ~(NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING | kGpuFlags)) != 0)
    return Error{Code::kInvalidArgument, fmt::format("winFlags {} has unknown bits", flags)};
  if (reinterpret_cast<std::uintptr_t>(buffer) % NCCL_WIN_REQUIRED_ALIGNMENT != 0)
    return Error{
        Code::kInvalidArgument,
        fmt::format("a window must begin on a multiple of {} bytes", NCCL_WIN_REQUIRED_ALIGNMENT)};
  RINGLET_TRY_ASSIGN(const FormedCommunicator held, FindActive(comm));
  if ((flags & kGpuFlags) != 0) {
    RINGLET_TRY_ASSIGN(const auto process, CurrentProcess());
    process->logger().NoteOnce(
        "NCCL_WIN_GIN_ONLY and NCCL_WIN_CFT_COUNTED are ignored: they concern GPUs");
  }
  RINGLET_TRY_ASSIGN(const std::uint32_t number,
                     held.communicator->one_sided().Open({static_cast<std::byte*>(buffer), size},
                                                         static_cast<std::uint32_t>(flags)));
  *window = reinterpret_cast<ncclWindow_t>(number * kRegistrationStep + kWindowMark);  // NOLINT
  return Ok();
}

Status DeregisterWindow(ncclComm_t comm, ncclWindow_t window) {
  RINGLET_TRY_ASSIGN(const auto communicator, Find(comm));
  RINGLET_TRY_ASSIGN(const std::uint32_t number, WindowNumber(window, "win"));
  return communicator->one_sided().Close(number);
}

Status UserPointer(ncclComm_t comm, ncclWindow_t window, void** out) {
  RINGLET_TRY(RequireNonNull(out, "outUserPtr"));
  RINGLET_TRY_ASSIGN(const auto communicator, Find(comm));
  RINGLET_TRY_ASSIGN(const std::uint32_t number, WindowNumber(window, "win"));
  RINGLET_TRY_ASSIGN(const auto found, communicator->one_sided().Find(number));
  *out = found.memory.data();
  return Ok();
}

}  // namespace

Result<std::uint32_t> WindowNumber(ncclWindow_t window, const char* name) {
  RINGLET_TRY(RequireNonNull(window, name));
  const auto number = reinterpret_cast<std::uintptr_t>(window);
  if (number % kRegistrationStep == kWindowMark && number / kRegistrationStep <= UINT32_MAX)
    return static_cast<std::uint32_t>(number / kRegistrationStep);
  return Error{Code::kInvalidArgument, fmt::format("{} is not a window", name)};
}

}  // namespace ringlet::c_api

namespace api = ringlet::c_api;

extern "C" {

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
  return api::Guard("ncclMemAlloc", [&] { return api::Allocate(ptr, size); });
}

ncclResult_t ncclMemFree(void* ptr) {
  return api::Guard("ncclMemFree", [&] { return api::Free(ptr); });
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buff, size_t size, void** handle) {
  return api::Guard("ncclCommRegister", [&] { return api::Register(comm, buff, size, handle); });
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void* handle) {
  return api::Guard("ncclCommDeregister", [&] { return api::Deregister(comm, handle); });
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win,
                                    int winFlags) {
  return api::Guard("ncclCommWindowRegister",
                    [&] { return api::RegisterWindow(comm, buff, size, win, winFlags); });
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win) {
  return api::Guard("ncclCommWindowDeregister", [&] { return api::DeregisterWindow(comm, win); });
}

ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win, void** outUserPtr) {
  return api::Guard("ncclWinGetUserPtr", [&] { return api::UserPointer(comm, win, outUserPtr); });
}

// Profiling aliases: a tool that defines ncclX calls the original as pncclX.
#define RINGLET_TWIN(name) extern decltype(name) p##name __attribute__((alias(#name)))
RINGLET_TWIN(ncclMemAlloc);
RINGLET_TWIN(ncclMemFree);
RINGLET_TWIN(ncclCommRegister);
RINGLET_TWIN(ncclCommDeregister);
RINGLET_TWIN(ncclCommWindowRegister);
RINGLET_TWIN(ncclCommWindowDeregister);
RINGLET_TWIN(ncclWinGetUserPtr);
#undef RINGLET_TWIN

}  // extern "C"
