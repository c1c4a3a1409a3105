// Messages of which each begins as soon as there is a link to its peer.
//
// A peer may come to its end of one message only when it has another from this rank, or from a rank
// that waits for this one. So none may wait for the links of the others.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/exec/messages.hpp"
#include "comm/backend/blocking_task.hpp"

namespace ringlet::comm {

class GradualMessages final : public collective::Operation {
 public:
  /// \param links   asked again after each that the blocking task has made
  /// \param blocking task  makes those that are missing; null: none are
  GradualMessages(std::vector<collective::Message> messages, Rank self, collective::LinkTo links,
                  std::unique_ptr<BlockingTask> blocking_task);

  /// Errors  those of collective::Messages and of the blocking task
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override;
  /// One without a link, if there is one: of the others their links tell.
  std::optional<Rank> Awaits() const override;
  void Withdraw() override;

 private:
  using Messages = collective::Messages;
  void BeginLinked();
  void Record(const Error& error, const Messages* of);

  std::vector<collective::Message> waiting_;  // for links
  Rank self_;
  collective::LinkTo links_;
  std::unique_ptr<BlockingTask> blocking_task_;     // null once all links are there
  std::vector<std::unique_ptr<Messages>> running_;  // by when their links came
  std::optional<Error> error_;
  std::optional<Rank> lost_;  // the peer of the failed link
  bool moved_ = false;
};

}  // namespace ringlet::comm
