// PyTorch's Store as a KeyStore. Included by module.cpp only.
#pragma once
#include <fmt/format.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "comm/control/beacon.hpp"
#include "pytorch/store/key_store.hpp"

namespace ringlet::torch_api {

class TorchStore final : public KeyStore {
 public:
  explicit TorchStore(c10::intrusive_ptr<c10d::Store> store)
      : store_(std::move(store)), tcp_(TcpOf(*store_)) {}

  Status Set(const std::string& key, View value) override {
    return Guarded("set", key, [&]() -> Status {
      store_->set(key, ValueOf(value));
      return Ok();
    });
  }
  Result<std::optional<Bytes>> Find(const std::string& key) override {
    return Guarded("look up", key, [&]() -> Result<std::optional<Bytes>> {
      const auto value = tcp_ != nullptr ? Compared(key) : CheckedGet(key);
      const auto bytes = std::as_bytes(std::span(value));
      if (bytes.empty()) return std::optional<Bytes>();
      return std::optional<Bytes>(Bytes(bytes.begin(), bytes.end()));
    });
  }
  using KeyStore::CountUp;
  Result<std::uint64_t> CountUp(const std::string& key, std::uint32_t by) override {
    return Guarded("count up", key, [&]() -> Result<std::uint64_t> {
      return static_cast<std::uint64_t>(store_->add(key, by) - by);
    });
  }
  // The client keeps its connection as long as it is usable.
  bool IsGone() override { return tcp_ != nullptr && !comm::HasConnectionTo(tcp_->getPort()); }
  // A store written in Python may lack deletion. Ignores failures, because no rank depends on it.
  void Erase(const std::string& key) override {
    if (gone_) return;
    try {
      store_->deleteKey(key);
    } catch (const std::exception&) {
      try {
        store_->set(key, Value());
      } catch (const std::exception&) {
      }
    }
  }

 private:
  using Value = std::vector<std::uint8_t>;

  static Value ValueOf(View bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return {first, first + bytes.size()};
  }

  // TCPStore's `check` is one request, and its `get` two more.
  Value CheckedGet(const std::string& key) {
    return store_->check({key}) ? store_->get(key) : Value();
  }
  // Reads in one request: compares the value with one that no rank sets, so it stays unchanged.
  Value Compared(const std::string& key) {
    static constexpr std::uint8_t kNever[] = {'n', 'o', 'n', 'e'};
    const Value never(std::begin(kNever), std::end(kNever));
    Value value = store_->compareSet(key, never, never);
    return value == never ? Value() : value;
  }
  static const c10d::TCPStore* TcpOf(c10d::Store& store) {
    auto* prefixed = dynamic_cast<c10d::PrefixStore*>(&store);
    if (prefixed == nullptr) return dynamic_cast<const c10d::TCPStore*>(&store);
    return dynamic_cast<const c10d::TCPStore*>(prefixed->getUnderlyingNonPrefixStore().get());
  }

  template <typename Body>
  auto Guarded(const char* what, const std::string& key, Body&& body) -> decltype(body()) {
    if (gone_) return Failed(what, key, "");
    try {
      return body();
    } catch (const c10::Error& error) {
      return Failed(what, key, error.what_without_backtrace());
    } catch (const std::exception& error) {
      return Failed(what, key, error.what());
    }
  }
  Error Failed(const char* what, const std::string& key, std::string_view why) {
    if (gone_ || IsGone()) {
      gone_ = true;
      return Error{
          Code::kPeerLost,
          fmt::format(
              "the process that served the store of the process group at {}:{} has ended or closed "
              "it: see the output of that process, usually rank 0 or the launcher",
              tcp_->getHost(), tcp_->getPort())};
    }
    return Error{Code::kPeerLost,
                 fmt::format("cannot {} '{}' in the store of the process group: {}", what, key,
                             why.substr(0, why.find('\n')))};
  }

  const c10::intrusive_ptr<c10d::Store> store_;
  const c10d::TCPStore* const tcp_;  // inside it, or null
  std::atomic<bool> gone_{false};    // not called any more: each call would print a stack
};

}  // namespace ringlet::torch_api
