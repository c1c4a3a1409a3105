// A machine that calls a function periodically.
#pragma once
#include <functional>

#include "base/wire/machine.hpp"

namespace ringlet::watch {

class Ticker final : public Machine {
 public:
  /// \param period  above zero
  Ticker(Instant period, std::function<void()> call) : period_(period), call_(std::move(call)) {}

  void Handle(const Event&, Instant now) override {
    if (due_ == Instant(0)) due_ = now + period_;
    if (now < due_) return;
    due_ = now + period_;
    call_();
  }
  std::optional<Instant> Deadline() const override { return due_; }
  bool Finished() const override { return false; }

 private:
  const Instant period_;
  const std::function<void()> call_;
  Instant due_{0};
};

}  // namespace ringlet::watch
