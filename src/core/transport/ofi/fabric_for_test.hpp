// A Fabric in memory between two endpoints of a test, which decides when messages arrive.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transport/ofi/fabric.hpp"

namespace ringlet::transport::ofi {

class FakeFabric final : public Fabric {
 public:
  explicit FakeFabric(std::string name)
      : name_(AsView(name).begin(), AsView(name).end()), provider_("fake") {}
  /// Connects both, so that they send to each other.
  void JoinWith(FakeFabric& other) {
    other_ = &other;
    other.other_ = this;
  }

  // Parameters for tests.
  bool busy = false;                 ///< rejects sends for now
  bool held = false;                 ///< keeps messages in flight and their slots pending
  std::string failure = {};          ///< of all later sends
  std::size_t room = 1000;           ///< number of slots that may wait
  std::size_t good_memories = 1000;  ///< successful requests for memory before one fails

  struct Message {
    std::uint64_t tag;
    Bytes bytes;
  };
  std::deque<Message> arrived;  ///< but not matched with a slot
  std::size_t sent = 0;

  const std::string& provider() const override { return provider_; }
  View name() const override { return name_; }
  std::uint64_t tag_mask() const override { return ~std::uint64_t{0}; }
  int descriptor() const override { return -1; }
  bool Arm() override { return Progress() == 0; }
  Result<PeerAddress> Reach(View name) override {
    if (!other_ ||
        !std::equal(name.begin(), name.end(), other_->name_.begin(), other_->name_.end()))
      return Error{Code::kSystem, "nobody of that name"};
    return PeerAddress{7};
  }
  Result<std::shared_ptr<Memory>> Allocate(std::size_t bytes) override {
    if (good_memories-- == 0) return Error{Code::kSystem, "no memory"};
    return std::shared_ptr<Memory>(std::make_shared<Plain>(bytes));
  }

  Result<bool> Send(PeerAddress to, std::uint64_t tag, Slot& slot, std::size_t bytes) override {
    RINGLET_ASSERT(to == 7 && !slot.pending && bytes <= slot.buffer.size());
    if (busy) return false;
    slot.pending = true;
    going_.push_back({&slot,
                      {tag, Bytes(slot.buffer.begin(),
                                  slot.buffer.begin() + static_cast<std::ptrdiff_t>(bytes))}});
    ++sent;
    return true;
  }
  Result<bool> Receive(std::uint64_t tag, Slot& slot) override {
    RINGLET_ASSERT(!slot.pending);
    if (waiting_ >= room) return false;
    slot.pending = true;
    slot.failure.clear();
    slots_[tag].push_back(&slot);
    ++waiting_;
    return true;
  }
  std::size_t Progress() override {
    std::size_t moved = 0;
    for (; !held && !going_.empty(); going_.pop_front(), ++moved) {
      Slot& slot = *going_.front().slot;
      slot.pending = false;
      slot.failure = failure;
      if (!failure.empty()) ++failures_;
      if (failure.empty() && other_) other_->arrived.push_back(going_.front().message);
    }
    for (auto it = arrived.begin(); it != arrived.end();) {
      auto& slots = slots_[it->tag];
      if (slots.empty()) {
        ++it;
        continue;
      }
      Settle(*slots.front(), it->bytes);
      slots.pop_front();
      --waiting_;
      ++moved;
      it = arrived.erase(it);
    }
    return moved;
  }

 private:
  struct Plain final : Memory {
    explicit Plain(std::size_t count) : memory(count) {}
    std::span<std::byte> bytes() override { return memory; }
    void* registration() const override { return nullptr; }
    Bytes memory;
  };
  struct EndingSend {
    Slot* slot;
    Message message;
  };
  void Settle(Slot& slot, const Bytes& bytes) {
    slot.pending = false;
    slot.bytes = std::min(bytes.size(), slot.buffer.size());
    std::copy_n(bytes.begin(), slot.bytes, slot.buffer.begin());
    if (bytes.size() <= slot.buffer.size()) return;
    slot.failure = "Truncation error";
    ++failures_;
  }

  const Bytes name_;
  const std::string provider_;
  FakeFabric* other_ = nullptr;
  std::deque<EndingSend> going_;
  std::map<std::uint64_t, std::deque<Slot*>> slots_;
  std::size_t waiting_ = 0;
};

}  // namespace ringlet::transport::ofi
