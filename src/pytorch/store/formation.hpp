// How a communicator of a process group comes to be: by ids that travel through the key store.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "comm/establish/establish.hpp"
#include "pytorch/store/key_store.hpp"

namespace ringlet::torch_api {

/// Which communicator, and this process's seat in it.
struct Seat {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  /// The same on all ranks and used once: PyTorch's scheme is "0", "1", ... for the communicators
  /// of one group.
  std::string key;
  /// One root serves so many ranks; with more ranks, further processes make roots.
  std::uint32_t ranks_per_root = 128;
  std::chrono::milliseconds timeout{};            ///< of the forming
  std::chrono::milliseconds operation_timeout{};  ///< of each operation later
};

/// The keys under which the roots of a seat's communicator publish their ids, first root first.
std::vector<std::string> KeysOfRoots(const Seat& seat);

/// Forms the communicator with all other ranks of the seat. Blocks until it stands. The
/// last rank erases the keys afterwards.
/// Errors  kTimeout  no rank published an id in time; else as comm::Establish
Result<std::unique_ptr<comm::Communicator>> Form(KeyStore& store, const Seat& seat,
                                                 const std::shared_ptr<comm::Process>& process,
                                                 const std::stop_token& abort);

/// How long to wait between two looks at something that another process brings about.
class Backoff {
 public:
  /// \param at_once  so many looks come without a wait
  explicit Backoff(int at_once = 0) : at_once_(at_once) {}
  std::chrono::microseconds Next();
  /// Waits for the next interval, and looks after the caller's LongWait. False: aborted, or the
  /// caller does not want to wait any longer.
  bool Rest(const std::stop_token& abort);

 private:
  int at_once_;
  std::chrono::microseconds next_{50};
  Instant looked_{0};  // when LongWait was asked last, or the first Rest began
};

/// Waits until `key` is in the store, looking again and again, at ever longer intervals.
/// \param meanwhile  called between two looks
/// Errors  kTimeout, kAborted, and the store's own
Result<Bytes> Await(KeyStore& store, const std::string& key, std::chrono::milliseconds timeout,
                    const std::stop_token& abort, const std::function<void()>& meanwhile = {},
                    Backoff backoff = Backoff());

/// The id that was published as `bytes`. Errors  kProtocol  not of its size.
Result<UniqueId> ToId(View bytes, const std::string& key);

/// Waits for `time` or, if that is earlier, until `abort`. False: aborted.
bool Pause(std::chrono::microseconds time, const std::stop_token& abort);

}  // namespace ringlet::torch_api
