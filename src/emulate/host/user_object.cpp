#include "emulate/host/user_object.hpp"

namespace ringlet::cuda {
namespace {

// Handles have a pointer type but are never dereferenced. Each is unique.
constexpr std::uintptr_t kHandleStep = 16;

Status NoSuchObject() {
  return Error{
      Code::kInvalidArgument,
      "the user object does not exist or has fewer references: never created, or already released"};
}

}  // namespace

Result<void*> UserObjects::Create(void* data, Function* end, unsigned references) {
  if (end == nullptr || references == 0)
    return Error{Code::kInvalidArgument, "a user object needs a function and a reference"};
  const std::lock_guard lock(mutex_);
  const std::uintptr_t handle = ++numbers_ * kHandleStep;
  objects_[handle] = {data, end, references};
  return reinterpret_cast<void*>(handle);  // NOLINT(performance-no-int-to-ptr)
}

Status UserObjects::Retain(void* object, unsigned references) {
  const std::lock_guard lock(mutex_);
  const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(object));
  if (at == objects_.end() || references == 0) return NoSuchObject();
  at->second.references += references;
  return Ok();
}

Status UserObjects::Release(void* object, unsigned references) {
  UserObject ended;
  {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<std::uintptr_t>(object));
    if (at == objects_.end() || references == 0 || at->second.references < references)
      return NoSuchObject();
    at->second.references -= references;
    if (at->second.references > 0) return Ok();
    ended = at->second;
    objects_.erase(at);
  }
  ended.end(ended.data);
  return Ok();
}

}  // namespace ringlet::cuda
