#include "frontends/c_api/forming.hpp"

#include <exception>

namespace ringlet::c_api {
namespace {

Result<std::shared_ptr<comm::Communicator>> Run(const Form& form, const std::stop_token& abort) {
  try {
    RINGLET_TRY_ASSIGN(std::shared_ptr<comm::Communicator> communicator, form(abort));
    return communicator;
  } catch (const std::exception& e) {
    return Error{Code::kSystem, std::string("unexpected: ") + e.what()};
  }
}

}  // namespace

void Forming::Start(std::function<void(const Error&)> on_failure) {
  thread_ = std::jthread([this, on_failure = std::move(on_failure)](const std::stop_token& abort) {
    auto outcome = Run(form_, abort);
    if (!outcome.ok()) on_failure(outcome.error());
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
  });
}

void Forming::Stop() {
  thread_ = {};
  const std::lock_guard lock(mutex_);
  if (!outcome_) outcome_ = Error{Code::kAborted, "the communicator was aborted before it began"};
}

std::optional<Result<std::shared_ptr<comm::Communicator>>> Forming::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace ringlet::c_api
