// The protocol of the status socket: a client sends a question of one line, the server answers and
// closes the connection. Without I/O. The owner accepts only clients of its own user.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/wire/machine.hpp"

namespace ringlet::watch {

class Server final : public Machine {
 public:
  static constexpr std::size_t kCallersMax = 16;
  static constexpr std::size_t kQuestionBytesMax = 256;
  /// Time limit to receive the whole question.
  static constexpr Instant kQuestionTimeout = std::chrono::seconds(5);

  /// Time limit for a delayed answer.
  static constexpr Instant kAnswerTimeout = std::chrono::seconds(2);

  struct Answers {
    /// Returns the answer, if it is available; else the owner calls `Answer` later.
    std::function<std::optional<std::string>(LineId caller, std::string_view question)> ask;
    /// Returns a partial answer when the time is up.
    std::function<std::string(LineId caller)> give_up;
  };
  explicit Server(Answers answers) : answers_(std::move(answers)) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return false; }
  bool Accepting() const override { return visitors_.size() < kCallersMax; }

  /// Has no effect if the caller has disconnected. The owner gives the machine a turn afterwards.
  void Answer(LineId caller, std::string text);

  /// The name in the abstract namespace at which a process listens: "ringlet.PID.IDENTITY". The
  /// identity is random, because pids repeat among containers.
  static std::string NameOf(std::uint32_t pid, std::uint64_t identity);
  /// The pid in such a name; empty if the name has another form.
  static std::optional<std::uint32_t> PidIn(std::string_view name);

 private:
  struct Visitor {
    std::string question;
    Instant expires{0};
    bool asked = false;  // awaits the answer
  };
  void OnReceived(const Received& event, Instant now);
  void OnTick(Instant now);
  void HangUp(LineId line);

  Answers answers_;
  std::map<LineId, Visitor> visitors_;
};

}  // namespace ringlet::watch
