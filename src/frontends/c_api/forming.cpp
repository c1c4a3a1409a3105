#include "frontends/c_api/forming.hpp"

#include "stream/current_device.hpp"

namespace ringlet::c_api {

namespace {

Result<std::shared_ptr<comm::Communicator>> Run(const Form& form, const std::stop_token& abort) {
  return comm::Caught([&]() -> Result<std::shared_ptr<comm::Communicator>> {
    RINGLET_TRY_ASSIGN(std::shared_ptr<comm::Communicator> communicator, form(abort));
    return communicator;
  });
}

}  // namespace

void PlaceOnDevice(comm::Config& config, const Settings& settings) {
  config.device = settings.local_rank.value_or(0);
  if (settings.machine.empty()) return;
  if (const int chosen = stream::CurrentDevice(); chosen > 0)
    config.device = static_cast<std::uint32_t>(chosen);
  config.names_device = true;
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

void Forming::LetGo() {
  const std::lock_guard lock(mutex_);
  if (outcome_ && outcome_->ok()) outcome_ = std::shared_ptr<comm::Communicator>();
}

std::optional<Result<std::shared_ptr<comm::Communicator>>> Forming::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace ringlet::c_api
