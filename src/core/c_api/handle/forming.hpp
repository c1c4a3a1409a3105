// A communicator that a thread of its own forms, for callers that do not wait (blocking = 0).
#pragma once
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "comm/run/communicator.hpp"
#include "comm/service/thread.hpp"
#include "ringlet/compat/nccl.h"

namespace ringlet::c_api {

/// Forms a communicator; a null one where this rank is not to have any.
using Form = std::function<Result<std::unique_ptr<comm::Communicator>>(const std::stop_token&)>;

inline UniqueId FromNccl(const ncclUniqueId& id) {
  UniqueId out;
  std::memcpy(out.bytes.data(), id.internal, UniqueId::kBytes);
  return out;
}
inline ncclUniqueId ToNccl(const UniqueId& id) {
  ncclUniqueId out;
  std::memcpy(out.internal, id.bytes.data(), UniqueId::kBytes);
  return out;
}

/// The device of a rank whose call names none: LOCAL_RANK's; with host CUDA that which the calling
/// thread has chosen (cudaSetDevice), if it has.
void PlaceOnDevice(comm::Config& config, const Settings& settings);
/// The device `device` as the caller counts. With host CUDA these are the visible ones: the rank
/// gets the device's number among all of them, and keeps the caller's to tell.
/// Errors  kInvalidArgument  there is host CUDA, and it shows no such device
Status NameDevice(comm::Config& config, int device);
/// The rank's device as the caller counts.
std::uint32_t CudaDeviceOf(const comm::Communicator& communicator);

class Forming {
 public:
  explicit Forming(Form form) : form_(std::move(form)) {}

  /// Once. \param on_failure  called on the thread, before a waiter is told; on the caller's where
  /// no thread can be started, which is the outcome then
  void Start(std::function<void(const Error&)> on_failure);

  /// Ends it, if it goes on, and waits for that, which comes at once. There is an outcome then.
  void Stop();

  /// Lets go of what has come of it, which its taker holds now. Others see that it is over.
  void LetGo();

  /// Its outcome; nothing while it goes on.
  std::optional<Result<std::shared_ptr<comm::Communicator>>> outcome() const;

 private:
  Form form_;
  mutable std::mutex mutex_;
  std::optional<Result<std::shared_ptr<comm::Communicator>>> outcome_;
  std::jthread thread_;  // the last member: it is ended first
};

}  // namespace ringlet::c_api
