// One operation, and then another that can be made only when the first is done.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "collective/call/operation.hpp"

namespace ringlet::comm {

class ThenOperation final : public collective::Operation {
 public:
  using Made = Result<std::unique_ptr<collective::Operation>>;
  ThenOperation(std::unique_ptr<collective::Operation> first, std::function<Made()> then)
      : current_(std::move(first)), then_(std::move(then)) {}

  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override { return current_->WaitingFor(); }
  std::optional<Rank> Awaits() const override { return current_->Awaits(); }
  const collective::WaitTarget* place() const override { return current_->place(); }

 private:
  std::unique_ptr<collective::Operation> current_;
  std::function<Made()> then_;  // empty once it was called
  std::optional<Error> error_;
  bool moved_ = false;
};

}  // namespace ringlet::comm
