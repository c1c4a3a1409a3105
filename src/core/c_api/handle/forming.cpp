#include "c_api/handle/forming.hpp"

#include <fmt/format.h>

#include "stream/current_device.hpp"

/// Host CUDA of `ringlet emulate`, if loaded: returns the number of a device among all devices of
/// the machine; -1 if it is not visible.
extern "C" __attribute__((weak)) int ringlet_host_device_number(int device);

namespace ringlet::c_api {
namespace {

std::optional<std::uint32_t> NumberOnMachine(int device) {
  if (ringlet_host_device_number == nullptr) return std::nullopt;
  const int number = ringlet_host_device_number(device);
  return number < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(number));
}

Result<std::shared_ptr<comm::Communicator>> Run(const Form& form, const std::stop_token& abort) {
  return comm::Caught([&]() -> Result<std::shared_ptr<comm::Communicator>> {
    RINGLET_TRY_ASSIGN(std::shared_ptr<comm::Communicator> communicator, form(abort));
    return communicator;
  });
}

}  // namespace

void PlaceOnDevice(comm::Config& config, const Settings& settings) {
  config.device = settings.local_rank.value_or(0);
  // Under `ringlet emulate`, ranks on one device would wait for each other on its null stream.
  config.names_device = !settings.machine.empty() || ringlet_host_device_number != nullptr;
  // A thread that selected no device is on the first one. LOCAL_RANK then distinguishes ranks of
  // several processes, as programs without devices require.
  const int chosen = config.stream_device = stream::CurrentDevice();
  const auto number = NumberOnMachine(chosen);
  if (!number || (chosen == 0 && *number == 0)) return;
  config.device = *number;
  config.cuda_device = static_cast<std::uint32_t>(chosen);
}

Status NameDevice(comm::Config& config, int device) {
  config.names_device = true;
  config.device = static_cast<std::uint32_t>(device);
  config.stream_device = device;
  if (ringlet_host_device_number == nullptr) return Ok();
  const auto number = NumberOnMachine(device);
  if (!number)
    return Error{
        Code::kInvalidArgument,
        fmt::format("this process sees no CUDA device {}: cudaGetDeviceCount returns the number of "
                    "devices, which CUDA_VISIBLE_DEVICES and ringlet emulate --devices set",
                    device)};
  config.device = *number;
  config.cuda_device = static_cast<std::uint32_t>(device);
  return Ok();
}

std::uint32_t CudaDeviceOf(const comm::Communicator& communicator) {
  return communicator.origin().config.cuda_device.value_or(communicator.identity().device);
}

void Forming::Start(std::function<void(const Error&)> on_failure) {
  const auto conclude = [this, on_failure = std::move(on_failure)](auto outcome) {
    if (!outcome.ok()) on_failure(outcome.error());
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
  };
  auto started = comm::StartThread(
      "to form a communicator",
      [this, conclude](const std::stop_token& abort) { conclude(Run(form_, abort)); });
  if (started.ok()) {
    thread_ = *std::move(started);
  } else {
    conclude(Result<std::shared_ptr<comm::Communicator>>(started.error()));
  }
}

void Forming::Stop() {
  thread_ = {};
  const std::lock_guard lock(mutex_);
  if (!outcome_) outcome_ = Error{Code::kAborted, "the communicator was aborted before it began"};
}

void Forming::ReleaseCommunicator() {
  const std::lock_guard lock(mutex_);
  if (outcome_ && outcome_->ok()) outcome_ = std::shared_ptr<comm::Communicator>();
}

std::optional<Result<std::shared_ptr<comm::Communicator>>> Forming::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace ringlet::c_api
