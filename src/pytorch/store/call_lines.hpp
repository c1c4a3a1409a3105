// The line of the program at which each rank called an operation, for the error of a mismatch.
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

/// The place at which one rank called the operation that failed.
struct CallLine {
  std::uint64_t communicator = 0;  ///< a number that no other one has had in this store
  std::uint64_t call = 0;          ///< how many calls of the group this is on this rank
  std::string line;                ///< such as "train.py:17 in step"
};

/// The exchange of these lines, once in the life of a group: it does not work any more. Safe from
/// any thread; may outlive the group.
class CallLines {
 public:
  static constexpr std::size_t kBytesMax = 512;     ///< longer lines are cut off
  static constexpr std::uint32_t kRanksNamed = 64;  ///< the first ones, and this one

  CallLines(std::shared_ptr<KeyStore> store, std::uint32_t rank, std::uint32_t size,
            std::stop_token ending)
      : store_(std::move(store)), rank_(rank), size_(size), ending_(std::move(ending)) {}

  /// Tells the others this rank's line through the store, which works when the communicator does
  /// not, and waits a second at most for theirs. Later calls return what the first one did.
  /// Returns lines of text, each with a line feed in front: "ranks 0, 2: train.py:17 in step", and
  /// the number of a call that is not this rank's. Empty: the store does not answer.
  /// Cost  a few requests to the store for each rank
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
