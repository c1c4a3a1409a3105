#include "emulate/host/shared_events.hpp"

#include <unistd.h>

#include <cstring>

namespace ringlet::cuda {
namespace {

/// The contents of a handle; its remaining bytes are 0.
struct EventWords {
  std::uint64_t sign = 0;
  std::int64_t pid = 0;
};
constexpr std::uint64_t kSign = 0x3154'4e45'5645'4c52;  // "RLEVENT1" in memory

}  // namespace

Answer SharedEvents::Create(ringletEvent_t* event, unsigned flags) {
  const Answer made = FromStream(ringletEventCreate(event, flags));
  if (!made.ok() || (flags & ringletEventInterprocess) == 0) return made;
  const std::lock_guard lock(mutex_);
  shared_[*event] = false;
  return made;
}

bool SharedEvents::IsShared(ringletEvent_t event) {
  const std::lock_guard lock(mutex_);
  const auto at = shared_.find(event);
  return at != shared_.end() && at->second;
}

Answer SharedEvents::Record(ringletEvent_t event, ringletStream_t stream) {
  const bool is_shared = IsShared(event);
  if (is_shared && Captures(stream))
    return {CudaCode::kNotSupported,
            "a capture cannot record an event shared with another process"};
  const Answer recorded = FromStream(ringletEventRecord(event, stream));
  return recorded.ok() && is_shared ? FromStream(ringletEventSynchronize(event)) : recorded;
}

Answer SharedEvents::Destroy(ringletEvent_t event) {
  {
    const std::lock_guard lock(mutex_);
    shared_.erase(event);
  }
  return FromStream(ringletEventDestroy(event));
}

Answer SharedEvents::Export(ringletEvent_t event, IpcHandle& handle) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = shared_.find(event);
    if (at == shared_.end())
      return {CudaCode::kInvalidHandle,
              "the event was not created with cudaEventInterprocess and cudaEventDisableTiming"};
    at->second = true;
  }
  const EventWords words{.sign = kSign, .pid = ::getpid()};
  handle = {};
  std::memcpy(handle.data(), &words, sizeof words);
  return FromStream(ringletEventSynchronize(event));
}

Answer SharedEvents::Open(const IpcHandle& handle, ringletEvent_t* event) {
  EventWords words;
  std::memcpy(&words, handle.data(), sizeof words);
  if (words.sign != kSign) return {CudaCode::kInvalidHandle, "the handle is not that of an event"};
  if (words.pid == ::getpid())
    return {CudaCode::kDeviceUninitialized, "the event of the handle belongs to this process"};
  const Answer made = Create(event, ringletEventInterprocess | ringletEventDisableTiming);
  if (!made.ok()) return made;
  const std::lock_guard lock(mutex_);
  shared_[*event] = true;
  return made;
}

}  // namespace ringlet::cuda
