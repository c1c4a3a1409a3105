// Forms the communicator of a process group with ids that are exchanged through the key store.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "comm/establish/establish.hpp"
#include "pytorch/store/key_store.hpp"

namespace ringlet::torch_api {

/// Identifies a communicator and the place of this process in it.
struct FormationConfig {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  /// The same on all ranks and used once. PyTorch uses "0", "1", ... for a group's communicators.
  std::string key;
  /// Number of ranks per root. With more ranks, further processes create roots.
  std::uint32_t ranks_per_root = 128;
  std::chrono::milliseconds timeout{};            ///< for forming
  std::chrono::milliseconds operation_timeout{};  ///< for each later operation
};

/// The keys at which the roots of a communicator publish their ids, first root first.
std::vector<std::string> KeysOfRoots(const FormationConfig& formation);

/// Forms the communicator with all its other ranks. Blocks until it is formed. The last
/// rank erases the keys afterwards.
/// Errors  kTimeout  a rank published no id in time; else as comm::Establish
Result<std::unique_ptr<comm::Communicator>> Form(KeyStore& store, const FormationConfig& formation,
                                                 const std::shared_ptr<comm::Process>& process,
                                                 const std::stop_token& abort);

/// The wait between two checks of a state that another process changes.
class Backoff {
 public:
  struct Pace {
    int at_once = 0;                      ///< number of initial checks without a wait
    std::chrono::microseconds first{50};  ///< the first wait
    int growth = 5;                       ///< each wait is longer by one part of so many
  };
  Backoff() : Backoff(Pace{}) {}
  explicit Backoff(const Pace& pace) : pace_(pace), next_(pace.first) {}
  std::chrono::microseconds Next();
  /// Waits for the next interval and checks the caller's LongWait. False: aborted or not to wait.
  bool Rest(const std::stop_token& abort);

 private:
  Pace pace_;
  std::chrono::microseconds next_;
  Instant looked_{0};  // when LongWait was checked last, or the first Rest began
};

/// Waits until the store has `key`, with repeated checks at increasing intervals. Empty: the time
/// is over.
///
/// \param meanwhile  called between two checks
///
/// Errors  kAborted, and the store's own
Result<std::optional<Bytes>> Await(KeyStore& store, const std::string& key,
                                   std::chrono::milliseconds timeout, const std::stop_token& abort,
                                   const std::function<void()>& meanwhile = {},
                                   Backoff backoff = Backoff());

/// Parses a published id. Errors  kProtocol  `bytes` has the wrong size
Result<UniqueId> ToId(View bytes, const std::string& key);

/// Waits for `time`, or until `abort` if that is earlier. Returns false if aborted.
bool Pause(std::chrono::microseconds time, const std::stop_token& abort);

}  // namespace ringlet::torch_api
