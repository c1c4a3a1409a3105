// PyTorch's Store as our key store. Included by module.cpp only.
#pragma once
#include <fmt/format.h>
#include <torch/extension.h>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "frontends/torch/group/key_store.hpp"

namespace ringlet::torch_api {

class TorchStore final : public KeyStore {
 public:
  explicit TorchStore(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}

  Status Set(const std::string& key, View value) override {
    return Guarded("set", key, [&]() -> Status {
      const auto* first = reinterpret_cast<const std::uint8_t*>(value.data());
      store_->set(key, std::vector<std::uint8_t>(first, first + value.size()));
      return Ok();
    });
  }
  Result<std::optional<Bytes>> Find(const std::string& key) override {
    return Guarded("look up", key, [&]() -> Result<std::optional<Bytes>> {
      if (!store_->check({key})) return std::optional<Bytes>();
      const auto value = store_->get(key);
      const auto bytes = std::as_bytes(std::span(value));
      return std::optional<Bytes>(Bytes(bytes.begin(), bytes.end()));
    });
  }
  Result<std::uint64_t> CountUp(const std::string& key) override {
    return Guarded("count up", key, [&]() -> Result<std::uint64_t> {
      return static_cast<std::uint64_t>(store_->add(key, 1) - 1);
    });
  }
  void Erase(const std::string& key) override {
    try {
      store_->deleteKey(key);
    } catch (const std::exception&) {
      // Not all stores can, and it may be gone already: nothing depends on it.
    }
  }

 private:
  template <typename Body>
  static auto Guarded(const char* what, const std::string& key, Body&& body) -> decltype(body()) {
    try {
      return body();
    } catch (const c10::Error& error) {
      return Failed(what, key, error.what_without_backtrace());
    } catch (const std::exception& error) {
      return Failed(what, key, error.what());
    }
  }
  static Error Failed(const char* what, const std::string& key, std::string_view why) {
    return Error{Code::kPeerLost,
                 fmt::format("cannot {} '{}' in the store of the process group: {}", what, key,
                             why.substr(0, why.find('\n')))};
  }

  const c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace ringlet::torch_api
