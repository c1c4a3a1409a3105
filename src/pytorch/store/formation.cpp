#include "pytorch/store/formation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "comm/backend/host_memory.hpp"
#include "comm/establish/listeners.hpp"
#include "comm/service/clock.hpp"
#include "comm/service/long_wait.hpp"

namespace ringlet::torch_api {
namespace {

// Short enough to be unnoticed, long enough for a thousand waiting ranks at one store.
constexpr std::chrono::microseconds kLongestPause{20'000};

// A check takes about 30 us, and a root starts in 120 us. A sleeping thread would wake 80 us too
// late.
constexpr int kLooksAtOnce = 6;
// More would block the store for the rank that sets the id.
constexpr std::uint32_t kEagerRanksMax = 8;

std::uint32_t Roots(const FormationConfig& formation) {
  return (formation.size + formation.ranks_per_root - 1) / formation.ranks_per_root;
}

// The root of this rank, if it creates one: roots are distributed evenly among the ranks.
std::optional<std::uint32_t> RootOf(const FormationConfig& formation) {
  if (formation.rank % formation.ranks_per_root != 0) return std::nullopt;
  return formation.rank / formation.ranks_per_root;
}

Error NoId(const FormationConfig& formation, std::size_t root, const std::string& key) {
  return Error{Code::kTimeout,
               fmt::format("rank {} published no unique id of the process group within {} ms (key "
                           "'{}' of the store): it has not called the group's first operation, or "
                           "the other ranks gave up before this rank called it",
                           root * formation.ranks_per_root, formation.timeout.count(), key)};
}

Error Aborted(const std::string& key) {
  return Error{Code::kAborted,
               fmt::format("the process group was aborted while it waited for '{}'", key)};
}

}  // namespace

std::chrono::microseconds Backoff::Next() {
  if (pace_.at_once > 0) {
    --pace_.at_once;
    return std::chrono::microseconds(0);
  }
  const auto now = next_;
  next_ = std::min(next_ + next_ / pace_.growth, kLongestPause);
  return now;
}

bool Backoff::Rest(const std::stop_token& abort) {
  if (!Pause(Next(), abort)) return false;
  const Instant now = comm::Now();
  if (looked_ == Instant(0)) looked_ = now;
  if (now - looked_ < comm::LongWait::kPeriod) return true;
  looked_ = now;
  return !comm::LongWait::Look();
}

bool Pause(std::chrono::microseconds time, const std::stop_token& abort) {
  if (time.count() == 0) return !abort.stop_requested();  // waiting for zero time takes 50 us
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, abort, time, [] { return false; });
  return !abort.stop_requested();
}

std::vector<std::string> KeysOfRoots(const FormationConfig& formation) {
  const std::uint32_t roots = Roots(formation);
  if (roots == 1) return {formation.key};
  std::vector<std::string> keys;
  for (std::uint32_t root = 0; root < roots; ++root)
    keys.push_back(fmt::format("{}:{}", formation.key, root));
  return keys;
}

Result<std::optional<Bytes>> Await(KeyStore& store, const std::string& key,
                                   std::chrono::milliseconds timeout, const std::stop_token& abort,
                                   const std::function<void()>& meanwhile, Backoff backoff) {
  const Instant end = comm::Now() + timeout;
  while (true) {
    RINGLET_TRY_ASSIGN(auto value, store.Find(key));
    if (value || comm::Now() >= end) return value;
    if (!backoff.Rest(abort)) return Aborted(key);
    if (meanwhile) meanwhile();
  }
}

Result<UniqueId> ToId(View bytes, const std::string& key) {
  UniqueId id;
  if (bytes.size() != id.bytes.size())
    return Error{Code::kProtocol, fmt::format("'{}' in the store is {} bytes, not an id of {}", key,
                                              bytes.size(), id.bytes.size())};
  std::ranges::copy(bytes, id.bytes.begin());
  return id;
}

Result<std::unique_ptr<comm::Communicator>> Form(KeyStore& store, const FormationConfig& formation,
                                                 const std::shared_ptr<comm::Process>& process,
                                                 const std::stop_token& abort) {
  const auto serve = [&driver = process->driver()] {
    driver.RunUntil([] { return false; }, driver.Now());
  };
  const std::vector<std::string> keys = KeysOfRoots(formation);
  std::vector<UniqueId> ids(keys.size());
  comm::Config config;
  comm::Preparation prepared;
  config.rank = formation.rank;
  config.size = formation.size;
  config.expects_one_host = true;
  const auto mine = RootOf(formation);
  if (mine) {
    RINGLET_TRY_ASSIGN(ids[*mine], comm::CreateUniqueId(process));
    config.id = ids[*mine];
    if (*mine == 0) prepared.node_leader = comm::BecomeNodeLeader(*process, config);
    if (formation.size > 1) RINGLET_TRY(store.Set(keys[*mine], ids[*mine].bytes));
  } else {
    // Prepares while a root is created. An error here occurs again, with its reason, on first use.
    (void)process->host_reader().Scan(false);
    (void)process->host_reader().ReachableInterfaces();
    prepared.memory = comm::MakeHostMemory(*process, config);
  }
  for (std::size_t root = 0; root < keys.size(); ++root) {
    if (mine && root == *mine) continue;
    const bool eager = formation.size <= kEagerRanksMax && process->facts().MaySpin(formation.size);
    const Backoff backoff({.at_once = eager ? kLooksAtOnce : 0});
    RINGLET_TRY_ASSIGN(const auto bytes,
                       Await(store, keys[root], formation.timeout, abort, serve, backoff));
    if (!bytes) return NoId(formation, root, keys[root]);
    RINGLET_TRY_ASSIGN(ids[root], ToId(*bytes, keys[root]));
  }
  config.id = ids.front();
  config.more_ids.assign(ids.begin() + 1, ids.end());
  config.device = process->settings().local_rank.value_or(0);
  config.init_timeout = formation.timeout;
  config.timeout = formation.operation_timeout;
  // The last rank has less to do at the end than rank 0.
  if (formation.rank + 1 == formation.size && formation.size > 1)
    prepared.on_joined = [&] {
      for (const std::string& key : keys) store.Erase(key);
    };
  return comm::Establish(process, config, abort, std::move(prepared));
}

}  // namespace ringlet::torch_api
