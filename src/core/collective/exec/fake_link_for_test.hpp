// Links within one thread with all the difficulties of a real link, for tests: they hold little
// data, accept and return less than requested, split elements, and fail on request.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/value/prng.hpp"
#include "ringlet/status.hpp"
#include "transport/link/link.hpp"

namespace ringlet::collective {

/// One direction of a link: a ring buffer.
class FakePipe {
 public:
  FakePipe(std::size_t capacity_bytes, std::uint64_t seed) : ring_(capacity_bytes), prng_(seed) {}

  std::size_t Write(View data) {
    const std::size_t bytes = Some(std::min(data.size(), ring_.size() - held_));
    for (std::size_t i = 0; i < bytes; ++i) ring_[(head_ + held_ + i) % ring_.size()] = data[i];
    held_ += bytes;
    return bytes;
  }

  /// Writes all or nothing.
  bool WriteAll(View data) {
    if (data.size() > ring_.size() - held_) return false;
    for (std::size_t i = 0; i < data.size(); ++i)
      ring_[(head_ + held_ + i) % ring_.size()] = data[i];
    held_ += data.size();
    return true;
  }
  /// Reads `out.size()` bytes if they have arrived and start with `head`, or none.
  bool ReadAll(View head, std::span<std::byte> out) {
    if (out.size() > held_) return false;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = ring_[(head_ + i) % ring_.size()];
    if (!std::equal(head.begin(), head.end(), out.begin())) return false;
    head_ = (head_ + out.size()) % ring_.size();
    held_ -= out.size();
    shown_ = 0;
    return true;
  }

  /// Returns the contiguous bytes or a part of them: the same part until some are consumed.
  View Peek() {
    const std::size_t piece = std::min(held_, ring_.size() - head_);
    if (shown_ == 0) shown_ = Some(piece);
    return View(ring_).subspan(head_, shown_);
  }

  void Consume(std::size_t bytes) {
    RINGLET_ASSERT(bytes <= shown_);
    head_ = (head_ + bytes) % ring_.size();
    held_ -= bytes;
    shown_ = 0;
  }

  std::size_t held() const { return held_; }

  std::optional<std::string> failure;
  View offered = {};               // the bytes that the reader may fetch
  std::optional<bool> taken = {};  // the reader's answer
  bool withdrawn = false;
  bool settled = true;  // written data travels without further calls
  int announced = 0;    // messages for which the sender called SendRts
  int begun = 0;        // messages for which the reader called BeginReceive
  int ended = 0;        // and EndReceive

 private:
  /// Returns a random number up to `most`, often `most`, and 0 only if `most` is 0.
  std::size_t Some(std::size_t most) {
    return most == 0 || prng_.Chance(0.5) ? most : 1 + prng_.Below(most);
  }

  std::vector<std::byte> ring_;
  std::size_t head_ = 0;
  std::size_t held_ = 0;
  std::size_t shown_ = 0;
  Prng prng_;
};

/// One end of a link.
class FakeLink final : public transport::Link {
 public:
  /// The outcome of offers.
  enum class Offers { kUnknown, kTaken, kRefused };

  FakeLink(Rank peer, FakePipe& out, FakePipe& in, Offers offers)
      : peer_(peer), out_(out), in_(in), offers_(offers) {}

  Result<std::size_t> Write(View data) override {
    if (out_.failure) return LostError(*out_.failure);
    return out_.Write(data);
  }
  bool WriteWhole(View head, View data) override {
    std::vector<std::byte> all(head.begin(), head.end());
    all.insert(all.end(), data.begin(), data.end());
    return !out_.failure && out_.WriteAll(all);
  }
  transport::WholeRead ReadWhole(View head, std::span<std::byte> data) override {
    if (in_.held() == 0) return transport::WholeRead::kNothing;
    std::vector<std::byte> all(head.size() + data.size());
    if (!in_.ReadAll(head, all)) return transport::WholeRead::kOther;
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(head.size()), data.size(), data.begin());
    return transport::WholeRead::kDone;
  }
  Result<std::size_t> Read(std::span<std::byte> out) override {
    RINGLET_TRY_ASSIGN(const View arrived, Peek());
    const std::size_t bytes = std::min(arrived.size(), out.size());
    std::copy_n(arrived.begin(), bytes, out.begin());
    in_.Consume(bytes);
    return bytes;
  }
  Result<View> Peek() override {
    if (in_.held() == 0 && in_.failure) return LostError(*in_.failure);
    return in_.Peek();
  }
  void Consume(std::size_t bytes) override { in_.Consume(bytes); }
  bool Settled() override { return out_.settled; }
  Rank peer() const override { return peer_; }
  std::string_view kind() const override { return "fake"; }
  bool in_memory() const override { return true; }

  /// Makes this rank write its data, as after a refused offer.
  void refuse() { refused_ = true; }
  bool fetches() const override { return offers_ != Offers::kUnknown; }
  std::uint64_t SendRts(View data) override {
    RINGLET_ASSERT(out_.offered.empty() && !out_.withdrawn);
    ++out_.announced;
    if (refused_) return 0;
    out_.offered = data;
    return 17;
  }
  Result<std::optional<bool>> TakeAck() override {
    if (!out_.taken && out_.failure) return LostError(*out_.failure);
    const std::optional<bool> answer = std::exchange(out_.taken, std::nullopt);
    if (answer) out_.offered = {};
    refused_ = answer == false;
    return answer;
  }
  void Withdraw() override { out_.withdrawn = true; }
  /// If offers are refused, only the last piece is: earlier pieces are fetched.
  Result<bool> Get(std::uint64_t offer, std::size_t at, std::span<std::byte> to,
                   transport::CopyFunction copy) override {
    RINGLET_ASSERT(offer == 17 && at + to.size() <= in_.offered.size());
    if (in_.withdrawn) return LostError("the peer has given up");
    if (offers_ == Offers::kRefused && at + to.size() == in_.offered.size()) return false;
    copy(in_.offered.subspan(at, to.size()), to.data());
    return true;
  }
  void SendAck(bool taken) override { in_.taken = taken; }
  void BeginReceive() override {
    RINGLET_ASSERT(in_.begun == in_.ended);
    ++in_.begun;
  }
  void EndReceive() override {
    ++in_.ended;
    RINGLET_ASSERT(in_.ended == in_.begun && in_.ended <= in_.announced);
  }

 private:
  static Error LostError(const std::string& why) {
    return {.code = Code::kPeerLost, .message = why};
  }

  Rank peer_;
  FakePipe& out_;
  FakePipe& in_;
  Offers offers_;
  bool refused_ = false;
};

/// Links between all ranks, created on first use.
class FakeNetwork {
 public:
  FakeNetwork(std::size_t capacity_bytes, std::uint64_t seed,
              FakeLink::Offers offers = FakeLink::Offers::kUnknown)
      : capacity_bytes_(capacity_bytes), prng_(seed), offers_(offers) {}

  FakeLink* Link(Rank from, Rank to) {
    std::unique_ptr<FakeLink>& link = links_[{from, to}];
    if (!link) {
      FakePipe& out = Pipe(from, to);
      link = std::make_unique<FakeLink>(to, out, Pipe(to, from), offers_);
    }
    return link.get();
  }

  /// Returns the LinkTo function of a rank.
  auto LinksOf(Rank rank) {
    return [this, rank](Rank peer) -> transport::Link* { return Link(rank, peer); };
  }

  FakePipe& Pipe(Rank from, Rank to) {
    std::unique_ptr<FakePipe>& pipe = pipes_[{from, to}];
    if (!pipe) pipe = std::make_unique<FakePipe>(capacity_bytes_, prng_.Next());
    return *pipe;
  }

  /// Returns the bytes in flight. Must be 0 when every rank is done.
  std::size_t held_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [key, pipe] : pipes_) bytes += pipe->held();
    return bytes;
  }

 private:
  using Key = std::pair<Rank, Rank>;
  std::size_t capacity_bytes_;
  Prng prng_;
  FakeLink::Offers offers_;
  std::map<Key, std::unique_ptr<FakePipe>> pipes_;
  std::map<Key, std::unique_ptr<FakeLink>> links_;
};

}  // namespace ringlet::collective
