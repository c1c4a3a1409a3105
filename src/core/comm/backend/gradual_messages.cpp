#include "comm/backend/gradual_messages.hpp"

#include <algorithm>
#include <utility>

namespace ringlet::comm {

GradualMessages::GradualMessages(std::vector<collective::Message> messages, Rank self,
                                 collective::LinkTo links,
                                 std::unique_ptr<BlockingTask> blocking_task)
    : waiting_(std::move(messages)),
      self_(self),
      links_(std::move(links)),
      blocking_task_(std::move(blocking_task)) {
  BeginLinked();
}

// Begins all messages of a peer at once, which keeps their order.
void GradualMessages::BeginLinked() {
  const auto linked = std::stable_partition(
      waiting_.begin(), waiting_.end(), [&](const collective::Message& message) {
        return message.peer != self_ && links_(message.peer) == nullptr;
      });
  if (linked == waiting_.end()) return;
  running_.push_back(std::make_unique<Messages>(std::span(linked, waiting_.end()), self_, links_));
  waiting_.erase(linked, waiting_.end());
}

Result<bool> GradualMessages::Advance() {
  moved_ = false;
  if (error_) return *error_;
  if (blocking_task_) {
    const Result<bool> all = blocking_task_->Advance();
    moved_ = blocking_task_->moved();
    if (moved_) BeginLinked();
    if (!all.ok()) Record(all.error(), nullptr);
    if (all.ok() && *all) blocking_task_.reset();
  }
  for (auto& messages : running_) {
    const Result<bool> done = messages->Advance();
    moved_ = moved_ || messages->moved();
    if (!done.ok()) Record(done.error(), messages.get());
    if (done.ok() && *done) messages.reset();
  }
  std::erase(running_, nullptr);
  if (error_) return *error_;
  return !blocking_task_ && running_.empty();
}

// A kProtocol error replaces an earlier error, because it identifies a peer with a different call.
void GradualMessages::Record(const Error& error, const Messages* of) {
  if (error_ && error.code != Code::kProtocol) return;
  error_ = error;
  lost_ = of ? of->Awaits() : blocking_task_->Awaits();
}

std::string GradualMessages::WaitingFor() const {
  std::string text = blocking_task_ ? blocking_task_->WaitingFor() : "";
  for (const auto& messages : running_) text += (text.empty() ? "" : "; ") + messages->WaitingFor();
  return text;
}

std::optional<Rank> GradualMessages::Awaits() const {
  if (error_) return lost_;
  if (blocking_task_) return blocking_task_->Awaits();
  return running_.empty() ? std::nullopt : running_.front()->Awaits();
}

void GradualMessages::Withdraw() {
  for (auto& messages : running_) messages->Withdraw();
}

}  // namespace ringlet::comm
