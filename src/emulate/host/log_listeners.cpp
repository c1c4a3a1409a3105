#include "emulate/host/log_listeners.hpp"

#include <string>

namespace ringlet::cuda {
namespace {

thread_local bool is_telling = false;

}  // namespace

Result<void*> LogListeners::Add(Function* function, void* data) {
  if (function == nullptr) return Error{Code::kInvalidArgument, "callbackFunc is NULL"};
  const std::lock_guard lock(mutex_);
  listeners_.emplace(++numbers_, LogListener{function, data});
  return reinterpret_cast<void*>(numbers_);  // NOLINT(performance-no-int-to-ptr)
}

Status LogListeners::Remove(void* handle) {
  if (is_telling) return Error{Code::kInvalidArgument, "a log callback cannot remove callbacks"};
  const std::lock_guard lock(mutex_);
  if (listeners_.erase(reinterpret_cast<std::uintptr_t>(handle)) == 0)
    return Error{Code::kInvalidArgument, "the handle is not that of a log callback"};
  return Ok();
}

bool LogListeners::any() const {
  if (is_telling) return false;
  const std::lock_guard lock(mutex_);
  return !listeners_.empty();
}

void LogListeners::NotifyListeners(CudaLogLevel level, std::string_view sentence) {
  if (is_telling) return;
  const std::lock_guard lock(mutex_);
  is_telling = true;
  for (const auto& [number, listener] : listeners_) {
    std::string text(sentence);  // a copy, because the function may write to it
    listener.function(listener.data, level, text.data(), text.size());
  }
  is_telling = false;
}

}  // namespace ringlet::cuda
