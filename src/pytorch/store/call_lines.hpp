// The program line at which each rank called an operation, for the error of a mismatch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "pytorch/store/key_store.hpp"

namespace ringlet::torch_api {

/// The line at which one rank called the failed operation.
struct CallLine {
  std::uint64_t communicator = 0;  ///< a number that is unique in this store
  std::uint64_t call = 0;          ///< index of the call among this rank's calls of the group
  std::string line;                ///< such as "train.py:17 in step"
};

/// Exchanges these lines once, after the group has failed. Thread-safe. May outlive the group.
class CallLines {
 public:
  static constexpr std::size_t kBytesMax = 512;     ///< longer lines are truncated
  static constexpr std::uint32_t kRanksNamed = 64;  ///< the first ranks, and this one

  CallLines(std::shared_ptr<KeyStore> store, std::uint32_t rank, std::uint32_t size,
            std::stop_token ending)
      : store_(std::move(store)), rank_(rank), size_(size), ending_(std::move(ending)) {}

  /// Publishes this rank's line through the store, which works when the communicator does not, and
  /// waits at most a second for the others. Later calls return the first result. Returns lines of
  /// text, each with a leading line feed: "ranks 0, 2: train.py:17 in step", and the number of a
  /// call that differs from this rank's. Empty if the store does not answer.
  /// Cost  a few requests to the store per rank
  std::string Exchange(const CallLine& mine);

 private:
  std::string ExchangeNow(const CallLine& mine) const;

  const std::shared_ptr<KeyStore> store_;
  const std::uint32_t rank_;
  const std::uint32_t size_;
  const std::stop_token ending_;
  std::mutex mutex_;
  std::optional<std::string> text_;
};

}  // namespace ringlet::torch_api
