// Messages that each begin as soon as the link to their peer exists.
//
// A peer may reach its end of one message only after another message from this rank, or from a rank
// that waits for this one. So a message must not wait for the links of other messages.
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
  /// \param links   queried again after each link that the blocking task has made
  /// \param blocking_task  makes the missing links; null if none is missing
  GradualMessages(std::vector<collective::Message> messages, Rank self, collective::LinkTo links,
                  std::unique_ptr<BlockingTask> blocking_task);

  /// Errors  those of collective::Messages and of the blocking task
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override;
  /// Returns a peer without a link, if any. The links report the loss of other peers.
  std::optional<Rank> Awaits() const override;
  void Withdraw() override;

 private:
  using Messages = collective::Messages;
  void BeginLinked();
  void Record(const Error& error, const Messages* of);

  std::vector<collective::Message> waiting_;  // for links
  Rank self_;
  collective::LinkTo links_;
  std::unique_ptr<BlockingTask> blocking_task_;     // null once all links exist
  std::vector<std::unique_ptr<Messages>> running_;  // in the order of their links' arrival
  std::optional<Error> error_;
  std::optional<Rank> lost_;  // the peer of the failed link
  bool moved_ = false;
};

}  // namespace ringlet::comm
