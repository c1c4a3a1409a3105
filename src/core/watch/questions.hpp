// Sends one question to several processes of this host over their status sockets. Without I/O.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"

namespace ringlet::watch {

class Questions final : public Machine {
 public:
  /// \param processes  addresses of their sockets. \param timeout  for all answers together
  Questions(std::vector<Address> processes, std::string question, Instant timeout)
      : processes_(std::move(processes)),
        question_(std::move(question)),
        timeout_(timeout),
        answers_(processes_.size()) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  /// True when all have answered or disconnected, or the time is up.
  bool Finished() const override { return begun_ && open_ == 0; }

  /// Returns one answer per process, in order; empty if missing or incomplete.
  std::vector<std::string> TakeAnswers() { return std::move(answers_); }

 private:
  void Begin(Instant now);
  void Close(std::size_t index, bool keeps);

  const std::vector<Address> processes_;
  const std::string question_;
  const Instant timeout_;
  bool begun_ = false;
  std::size_t open_ = 0;
  std::vector<bool> over_;
  Instant expires_{0};
  std::vector<std::string> answers_;
};

}  // namespace ringlet::watch
