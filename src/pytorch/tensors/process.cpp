#include "pytorch/tensors/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <optional>

#include "base/value/address.hpp"
#include "pytorch/store/formation.hpp"

namespace ringlet::torch_api {
namespace {

struct ProcessState {
  std::mutex mutex;
  std::weak_ptr<comm::Process> process;
  std::weak_ptr<comm::Beacon> beacon;
  std::uint64_t number = 0;  // 0: not drawn yet
  // The last queried beacon: usually all groups of a job query the same one.
  Address asked;
  std::optional<comm::BeaconProbe> beacon_probe;
  comm::ForkGuard fork_guard;
};

// Never destroyed: groups may end after main's statics.
ProcessState& TheShared() {
  static ProcessState& shared = *new ProcessState;
  return shared;
}

// A child of fork must close its parent's beacon, and may not take a lock to find it.
std::atomic<int>& BeaconDescriptor() {
  static std::atomic<int>& descriptor = []() -> std::atomic<int>& {
    ::pthread_atfork(nullptr, nullptr, [] {
      const int lit = BeaconDescriptor().exchange(-1);
      if (lit >= 0) ::close(lit);
    });
    return *new std::atomic<int>(-1);
  }();
  return descriptor;
}

}  // namespace

Result<std::shared_ptr<comm::Process>> SharedProcess() {
  ProcessState& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  if (!shared.fork_guard.IsHere()) {
    shared.process.reset();
    shared.beacon.reset();
    shared.number = 0;
    shared.beacon_probe.reset();
    shared.fork_guard = comm::ForkGuard();
  }
  auto process = shared.process.lock();
  if (process) return process;
  RINGLET_TRY_ASSIGN(process, comm::Process::PrepareHere());
  shared.process = process;
  if (shared.number == 0) shared.number = process->facts().process_hash;
  return process;
}

Result<std::shared_ptr<comm::Beacon>> SharedBeacon() {
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  ProcessState& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  if (auto beacon = shared.beacon.lock()) return beacon;
  RINGLET_TRY_ASSIGN(auto lit, comm::Beacon::Start(*process));
  BeaconDescriptor() = lit->descriptor();
  const auto put_out = [process, lit](comm::Beacon*) {
    int own = lit->descriptor();
    BeaconDescriptor().compare_exchange_strong(own, -1);
  };
  std::shared_ptr<comm::Beacon> beacon(lit.get(), put_out);
  shared.beacon = beacon;
  return beacon;
}

Result<std::uint64_t> ProcessNumber() {
  RINGLET_TRY(SharedProcess());
  const std::lock_guard lock(TheShared().mutex);
  return TheShared().number;
}

bool HasEnded(const Address& beacon) {
  constexpr std::chrono::milliseconds kPause{1};
  constexpr int kPausesMax = 200;
  ProcessState& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  if (shared.beacon_probe && shared.asked == beacon) return shared.beacon_probe->IsGone();
  shared.asked = beacon;
  shared.beacon_probe = comm::BeaconProbe::Of(beacon);
  for (int pause = 0; pause < kPausesMax && !shared.beacon_probe->IsAnswered(); ++pause)
    Pause(kPause, {});
  return shared.beacon_probe->IsGone();
}

Result<std::string> ReachableAddress() {
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  RINGLET_TRY_ASSIGN(const auto addresses, process->host_reader().ReachableAddresses());
  std::string text = ToString(addresses.front());  // with ":0"; IPv6 in brackets
  text.resize(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

}  // namespace ringlet::torch_api
