// The key-value store by which the processes of a job meet, as the caller gives it: PyTorch's
// Store.
#pragma once
#include <optional>
#include <string>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet::torch_api {

/// All functions may be called by any thread. None waits for another process: PyTorch's blocking
/// `get` holds a lock that keeps all other groups of the process from the store.
class KeyStore {
 public:
  virtual ~KeyStore() = default;
  /// \param value  not empty
  virtual Status Set(const std::string& key, View value) = 0;
  /// Empty when it is not set yet, or erased.
  virtual Result<std::optional<Bytes>> Find(const std::string& key) = 0;
  /// Adds one to a counter and gives its value before.
  virtual Result<std::uint64_t> CountUp(const std::string& key) = 0;
  /// From here on it is as if it had not been set. Nothing happens where the store is gone.
  virtual void Erase(const std::string& key) = 0;
  /// The same, unless it has another value by now. Has happened when it returns.
  virtual void EraseIf(const std::string& key, View value) = 0;
};

}  // namespace ringlet::torch_api
