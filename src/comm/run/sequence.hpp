// Operations one after the other, each of which can be made only when those before are done.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/call/operation.hpp"

namespace ringlet::comm {

class Sequence final : public collective::Operation {
 public:
  using Made = Result<std::unique_ptr<collective::Operation>>;
  /// \param makers  called in order, each when the operation before is done and gone
  Sequence(std::unique_ptr<collective::Operation> first, std::vector<std::function<Made()>> makers)
      : current_(std::move(first)), makers_(std::move(makers)) {}

  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override { return current_ ? current_->WaitingFor() : ""; }
  std::optional<Rank> Awaits() const override {
    return current_ ? current_->Awaits() : std::nullopt;
  }
  const collective::WaitTarget* place() const override {
    return current_ ? current_->place() : nullptr;
  }
  void Withdraw() override {
    if (current_) current_->Withdraw();
  }

 private:
  std::unique_ptr<collective::Operation> current_;  // null: the next could not be made
  std::vector<std::function<Made()>> makers_;
  std::size_t made_ = 0;
  std::optional<Error> error_;
  bool moved_ = false;
};

}  // namespace ringlet::comm
