// A key store in memory, for ranks that are threads of the test.
#pragma once
#include <map>
#include <mutex>
#include <utility>

#include "pytorch/store/key_store.hpp"

namespace ringlet::torch_api {

class MemoryStore : public KeyStore {
 public:
  Status Set(const std::string& key, View value) override {
    const std::lock_guard lock(mutex_);
    values_[key].assign(value.begin(), value.end());
    return Ok();
  }
  Result<std::optional<Bytes>> Find(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    const auto it = values_.find(key);
    if (it == values_.end()) return std::optional<Bytes>();
    return std::optional<Bytes>(it->second);
  }
  using KeyStore::CountUp;
  Result<std::uint64_t> CountUp(const std::string& key, std::uint32_t by) override {
    const std::lock_guard lock(mutex_);
    return std::exchange(counters_[key], counters_[key] + by);
  }
  void Erase(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    values_.erase(key);
    counters_.erase(key);
  }
  /// Number of keys, with counters.
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return values_.size() + counters_.size();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Bytes> values_;
  std::map<std::string, std::uint64_t> counters_;
};

}  // namespace ringlet::torch_api
