// A communicator that is formed by its own thread, for non-blocking callers (blocking = 0).
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

/// Forms a communicator; returns null if this rank gets none.
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

/// Sets the device for a call that names none: LOCAL_RANK or, with host CUDA, the device that the
/// calling thread has selected (cudaSetDevice).
void PlaceOnDevice(comm::Config& config, const Settings& settings);
/// Sets the rank's device to `device` in the caller's numbering. Host CUDA numbers only visible
/// devices: the rank gets the number among all, and keeps the caller's for queries.
/// Errors  kInvalidArgument  host CUDA shows no such device
Status NameDevice(comm::Config& config, int device);
/// The rank's device in the caller's numbering.
std::uint32_t CudaDeviceOf(const comm::Communicator& communicator);

class Forming {
 public:
  explicit Forming(Form form) : form_(std::move(form)) {}

  /// Starts the thread; called once. \param on_failure  called on the thread before waiters see the
  /// outcome. Without a thread, the caller's thread calls it, and that error is the outcome
  void Start(std::function<void(const Error&)> on_failure);

  /// Cancels a running formation and waits for its end, which follows at once. Sets an outcome.
  void Stop();

  /// Releases the formed communicator after its taker holds it. outcome() still reports the end.
  void ReleaseCommunicator();

  /// The outcome; empty while the thread runs.
  std::optional<Result<std::shared_ptr<comm::Communicator>>> outcome() const;

 private:
  Form form_;
  mutable std::mutex mutex_;
  std::optional<Result<std::shared_ptr<comm::Communicator>>> outcome_;
  std::jthread thread_;  // the last member: destroyed first
};

}  // namespace ringlet::c_api
