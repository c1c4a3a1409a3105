// Uninvited callers that dial a listener: silent ones, garbage, replays of a member.
#pragma once
#include <optional>

#include "base/value/prng.hpp"
#include "base/wire/machine.hpp"

namespace ringlet::sim {

class Stranger final : public Machine {
 public:
  enum class Manner : std::uint8_t { kSilent, kGarbage, kReplay, kHangUp };
  Stranger(Manner manner, Address target, std::uint64_t seed, Bytes recording = {})
      : manner_(manner),
        target_(std::move(target)),
        prng_(seed),
        recording_(std::move(recording)) {}

  void Handle(const Event& event, Instant) override {
    if (std::holds_alternative<Tick>(event) && calls_ == 0) Call();
    if (const auto* connected = std::get_if<Connected>(&event)) Speak(connected->line);
    if (const auto* closed = std::get_if<Closed>(&event); closed && calls_ < 20) Call();
    if (std::holds_alternative<Received>(event)) ++answers_;
  }
  std::optional<Instant> Deadline() const override { return std::nullopt; }
  bool Finished() const override { return false; }
  int answers() const { return answers_; }

 private:
  void Call() { Emit(Dial{static_cast<LineId>(++calls_), target_}); }

  void Speak(LineId line) {
    Bytes words;
    if (manner_ == Manner::kGarbage) {
      words.resize(1 + prng_.Below(400));
      for (std::byte& word : words) word = static_cast<std::byte>(prng_.Next());
      // Half of the garbage begins like a member's hello.
      if (prng_.Chance(0.5) && words.size() > 4) {
        const char tag[] = {'R', 'L', 'H', '1'};
        for (std::size_t i = 0; i < 4; ++i) words[i] = static_cast<std::byte>(tag[i]);
      }
    } else if (manner_ == Manner::kReplay) {
      words = recording_;
    }
    if (!words.empty()) Emit(Send{line, Slice(Share(std::move(words)))});
    if (manner_ == Manner::kHangUp) {
      Emit(Hangup{line});
      if (calls_ < 20) Call();
    }
  }

  Manner manner_;
  Address target_;
  Prng prng_;
  Bytes recording_;
  int calls_ = 0;
  int answers_ = 0;
};

/// Forwards a machine and keeps the data that it sends on its first line, as an eavesdropper on the
/// path to the root would.
class Recorded final : public Machine {
 public:
  Recorded(std::unique_ptr<Machine> inner, Bytes& recording)
      : inner_(std::move(inner)), recording_(&recording) {}
  void Handle(const Event& event, Instant now) override {
    inner_->Handle(event, now);
    while (auto action = inner_->PollAction()) {
      if (const auto* send = std::get_if<Send>(&*action); send && send->line == 1)
        recording_->insert(recording_->end(), send->data.bytes.begin(), send->data.bytes.end());
      Emit(std::move(*action));
    }
  }
  std::optional<Instant> Deadline() const override { return inner_->Deadline(); }
  bool Finished() const override { return inner_->Finished(); }
  bool Accepting() const override { return inner_->Accepting(); }
  Machine& inner() { return *inner_; }

 private:
  std::unique_ptr<Machine> inner_;
  Bytes* recording_;
};

}  // namespace ringlet::sim
