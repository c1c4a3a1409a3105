// The key-value store, provided by the caller, that connects a job's processes: PyTorch's Store.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet::torch_api {

/// Any thread may call all functions. None of them waits for another process, because PyTorch's
/// blocking `get` holds a lock that blocks all other groups of the process.
class KeyStore {
 public:
  virtual ~KeyStore() = default;
  /// \param value  not empty
  virtual Status Set(const std::string& key, View value) = 0;
  /// Empty if the key is not set yet, or erased.
  virtual Result<std::optional<Bytes>> Find(const std::string& key) = 0;
  /// Adds to a counter and returns its previous value.
  virtual Result<std::uint64_t> CountUp(const std::string& key, std::uint32_t by) = 0;
  Result<std::uint64_t> CountUp(const std::string& key) { return CountUp(key, 1); }
  /// Removes the key. Has no effect if the store has ended.
  virtual void Erase(const std::string& key) = 0;
  /// True if the server of the store has certainly ended, so that each call would fail. PyTorch
  /// prints a stack for such a call. Cost  some system calls
  virtual bool IsGone() { return false; }
};

/// The keys of one generation of a group, with the generation's number as prefix. A group that is
/// created again in a store, by the same or new processes, never reads earlier keys.
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
  using KeyStore::CountUp;
  Result<std::uint64_t> CountUp(const std::string& key, std::uint32_t by) override {
    return all_->CountUp(prefix_ + key, by);
  }
  void Erase(const std::string& key) override { all_->Erase(prefix_ + key); }
  bool IsGone() override { return all_->IsGone(); }

 private:
  const std::shared_ptr<KeyStore> all_;  // shared with the groups that the program created in it
  std::string prefix_ = "0/";
};

}  // namespace ringlet::torch_api
