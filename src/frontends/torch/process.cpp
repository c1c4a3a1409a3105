#include "frontends/torch/process.hpp"

#include <unistd.h>

#include <mutex>

#include "base/address.hpp"

namespace ringlet::torch_api {
namespace {

struct Shared {
  std::mutex mutex;
  std::weak_ptr<comm::Process> process;
  Birthplace birthplace;
};

// Never destroyed: groups may end after main's statics.
Shared& TheShared() {
  static Shared& shared = *new Shared;
  return shared;
}

}  // namespace

Birthplace::Birthplace() : pid_(::getpid()) {}

bool Birthplace::IsHere() const {
  return pid_ == ::getpid();
}

Result<std::shared_ptr<comm::Process>> SharedProcess() {
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  if (!shared.birthplace.IsHere()) {
    shared.process.reset();
    shared.birthplace = Birthplace();
  }
  auto process = shared.process.lock();
  if (process) return process;
  RINGLET_TRY_ASSIGN(process, comm::Process::StartHere());
  shared.process = process;
  return process;
}

Result<std::string> ReachableAddress() {
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  RINGLET_TRY_ASSIGN(const auto addresses, process->ReachableAddresses());
  std::string text = ToString(addresses.front());  // with ":0", and IPv6 in brackets
  text.resize(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

}  // namespace ringlet::torch_api
