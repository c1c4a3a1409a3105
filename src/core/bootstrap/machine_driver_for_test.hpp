// A machine driven by a test or a fuzzer: its actions are kept by connection, and the test can play
// the other ends of its connections. Does not use GTest, so that fuzzers can include it.
#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/wire/machine.hpp"
#include "base/wire/wire.hpp"
#include "bootstrap/protocol.hpp"

namespace ringlet::bootstrap {

/// Drives one machine and keeps its actions.
class MachineDriver {
 public:
  explicit MachineDriver(Machine& machine) : machine_(&machine) {}

  void Deliver(const Event& event) {
    machine_->Handle(event, now);
    Drain();
  }
  /// The bytes are valid only during the call, like those of a driver.
  void DeliverBytes(LineId line, Bytes bytes) {
    Deliver(Received{line, Slice(View(bytes)), {}});
    std::ranges::fill(bytes, std::byte{0xee});
  }
  void Pass(Instant time) {
    now += time;
    Deliver(Tick{});
  }
  void Drain() {
    while (auto action = machine_->PollAction())
      std::visit(Overloaded{
                     [&](const Dial& dial) { dials.push_back(dial); },
                     [&](const Send& send) {
                       Bytes& out = sent[send.line];
                       out.insert(out.end(), send.data.bytes.begin(), send.data.bytes.end());
                     },
                     [&](const Hangup& hangup) { hung_up.insert(hangup.line); },
                     [&](const Detach&) {},
                     [&](const Note& note) { notes.push_back(note.text); },
                 },
                 *action);
  }
  Bytes TakeSent(LineId line) { return std::exchange(sent[line], {}); }

  Instant now = std::chrono::seconds(1);
  std::vector<Dial> dials;
  std::map<LineId, Bytes> sent;
  std::set<LineId> hung_up;
  std::vector<std::string> notes;

 private:
  Machine* machine_;
};

/// The other end of one connection of a machine: authenticates, then exchanges frames.
class FarEnd {
 public:
  /// Calls the machine.
  FarEnd(MachineDriver& driver, LineId line, const Credentials& credentials, Purpose purpose,
         const Nonce& nonce = {})
      : driver_(&driver),
        line_(line),
        wire_(Wire::Dialled(credentials, purpose, nonce, kMemberFrameBytesMax)) {
    driver.Deliver(Accepted{line, Address::Ipv4(192, 0, 2, 1, static_cast<std::uint16_t>(line))});
    driver.DeliverBytes(line, wire_.TakeReply());
    Listen();
  }
  /// The machine calls it.
  FarEnd(MachineDriver& driver, const Dial& dial, const Credentials& credentials,
         const Nonce& nonce = {})
      : driver_(&driver),
        line_(dial.line),
        wire_(Wire::Accepted(credentials, nonce, kMemberFrameBytesMax)) {
    driver.Deliver(Connected{dial.line});
    Listen();
  }

  /// Receives the machine's output and answers its handshake.
  void Listen() {
    Bytes bytes = driver_->TakeSent(line_);
    while (!bytes.empty() && usable_) {
      usable_ = wire_.Push(Slice(Share(std::move(bytes)))).ok();
      if (Bytes reply = wire_.TakeReply(); !reply.empty())
        driver_->DeliverBytes(line_, std::move(reply));
      for (auto frame = wire_.Next(); frame.ok() && *frame; frame = wire_.Next())
        frames_.push_back(std::move(**frame));
      bytes = driver_->TakeSent(line_);
    }
  }
  void Transmit(Bytes bytes) {
    driver_->DeliverBytes(line_, std::move(bytes));
    Listen();
  }
  void Transmit(FrameType type, View payload = {}) {
    Writer out = BeginFrame(static_cast<std::uint8_t>(type));
    out.Raw(payload);
    Transmit(EndFrame(std::move(out)));
  }
  void Close(std::string why = "connection closed by the peer") {
    driver_->Deliver(Closed{line_, std::move(why)});
  }

  /// The next frame of the machine that the test has not taken.
  std::optional<Frame> Take() {
    Listen();
    if (taken_ == frames_.size()) return std::nullopt;
    return frames_[taken_++];
  }
  /// Does the same as Take, but skips frames of other types.
  std::optional<Frame> Take(FrameType type) {
    while (auto frame = Take())
      if (frame->type == static_cast<std::uint8_t>(type)) return frame;
    return std::nullopt;
  }
  /// The failure in the next kReject or kFailure frame, or an empty text. Skips a leading group id.
  Failure TakeFailure(FrameType type) {
    const auto frame = Take(type);
    if (!frame) return {};
    auto failure = ParseFailure(frame->payload.bytes);
    if (!failure.ok() && frame->payload.bytes.size() > 8)
      failure = ParseFailure(frame->payload.bytes.subspan(8));
    return failure.ok() ? std::move(*failure) : Failure{};
  }

  bool open() const { return wire_.open() && usable_; }
  bool hung_up() const { return driver_->hung_up.contains(line_); }
  LineId line() const { return line_; }

 private:
  MachineDriver* driver_;
  LineId line_;
  Wire wire_;
  bool usable_ = true;
  std::vector<Frame> frames_;
  std::size_t taken_ = 0;
};

}  // namespace ringlet::bootstrap
