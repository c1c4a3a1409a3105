// The protocol of the status socket, without I/O: one line of a question, the answer, and the
// connection closes. Its owner lets in callers of its own user only.
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
  /// For the whole question to come.
  static constexpr Instant kQuestionTimeout = std::chrono::seconds(5);

  /// How long an answer may take that is not there at once.
  static constexpr Instant kAnswerTimeout = std::chrono::seconds(2);

  struct Answers {
    /// The answer, if it is there at once; else `Answer` gives it later.
    std::function<std::optional<std::string>(LineId caller, std::string_view question)> ask;
    /// Time is up: the answer as far as it is known.
    std::function<std::string(LineId caller)> give_up;
  };
  explicit Server(Answers answers) : answers_(std::move(answers)) {}

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return false; }
  bool Accepting() const override { return visitors_.size() < kCallersMax; }

  /// Nothing where the caller has gone. The owner gives the machine a turn afterwards.
  void Answer(LineId caller, std::string text);

  /// The name in the abstract namespace under which a process listens: "ringlet.PID.IDENTITY". The
  /// identity is drawn, since pids repeat in containers.
  static std::string NameOf(std::uint32_t pid, std::uint64_t identity);
  /// The pid in such a name; empty: it is none.
  static std::optional<std::uint32_t> PidIn(std::string_view name);

 private:
  struct Visitor {
    std::string question;
    Instant expires{0};
    bool asked = false;  // waits for the answer
  };
  void OnReceived(const Received& event, Instant now);
  void OnTick(Instant now);
  void HangUp(LineId line);

  Answers answers_;
  std::map<LineId, Visitor> visitors_;
};

}  // namespace ringlet::watch
