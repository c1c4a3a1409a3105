// The key-value store by which the processes of a job meet, as the caller gives it: PyTorch's
// Store.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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
  /// Whether it is certain that what serves the store has ended: each call would fail. PyTorch
  /// prints a stack for such a call. Cost some system calls.
  virtual bool IsGone() { return false; }
};

/// The keys of one generation of a group, behind the number of that generation: a group that is
/// made again in the same store, by the same or by new processes, never reads what an earlier one
/// left there.
class GenerationStore final : public KeyStore {
 public:
  explicit GenerationStore(std::shared_ptr<KeyStore> all) : all_(std::move(all)) {}

  /// Call it before the first use of the other functions.
  void set_generation(std::uint64_t generation) { prefix_ = std::to_string(generation) + "/"; }

  Status Set(const std::string& key, View value) override {
    return all_->Set(prefix_ + key, value);
  }
  Result<std::optional<Bytes>> Find(const std::string& key) override {
    return all_->Find(prefix_ + key);
  }
  Result<std::uint64_t> CountUp(const std::string& key) override {
    return all_->CountUp(prefix_ + key);
  }
  void Erase(const std::string& key) override { all_->Erase(prefix_ + key); }
  bool IsGone() override { return all_->IsGone(); }

 private:
  const std::shared_ptr<KeyStore> all_;  // with the groups that the program made in it
  std::string prefix_ = "0/";
};

}  // namespace ringlet::torch_api
