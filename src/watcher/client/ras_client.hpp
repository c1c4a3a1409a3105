// The protocol of NCCL's RAS, as a client speaks it to Ringlet's server or NCCL's, without I/O.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::watch {

class RasClient final : public Machine {
 public:
  /// For the first word of a server. Several processes may listen at one port, of which one is
  /// stopped: the next call may reach another one.
  static constexpr Instant kGreetingTimeout = std::chrono::seconds(1);
  static constexpr std::size_t kCallsMax = 12;
  /// For a report, beyond the time that the ranks have.
  static constexpr Instant kReportSlack = std::chrono::seconds(10);
  static constexpr Instant kRankTimeout = std::chrono::seconds(5);  ///< NCCL's, where none is given
  static constexpr std::size_t kReportBytesMax = std::size_t{256} << 20;

  struct Question {
    std::vector<Address> servers = {};  ///< of one host, tried in turn; not empty
    bool verbose = false;
    std::optional<std::string> format = {};            ///< "json"
    std::optional<std::chrono::seconds> timeout = {};  ///< for the ranks to answer
    std::optional<std::string> events = {};  ///< monitors these groups, or NCCL's if empty
  };
  /// \param on_text  takes what the server reports, as it comes
  RasClient(Question question, std::function<void(std::string_view)> on_text);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return outcome_.has_value(); }

  /// Of a finished one.
  /// Errors  kPeerLost  no server, or it has gone too early
  ///         kTimeout   it does not answer in time
  ///         kProtocol  it says something else than RAS does
  const std::optional<Status>& outcome() const { return outcome_; }

 private:
  void Call(Instant now);
  void OnClosed(const std::string& why, Instant now);
  void OnText(std::string_view text, Instant now);
  void OnLine(std::string_view line, Instant now);
  void SayNext(Instant now);
  void Say(const std::string& command);
  void Finish(Status outcome);

  const Question question_;
  const std::function<void(std::string_view)> on_text_;
  std::vector<std::string> commands_;  ///< before the last one; each has an answer of a line
  std::size_t said_ = 0;
  std::size_t calls_ = 0;
  std::size_t server_ = 0;  ///< the present one
  LineId line_ = 0;
  std::optional<Instant> deadline_ = Instant(1);  ///< at once
  std::string unread_;
  std::size_t report_bytes_ = 0;
  bool reports_ = false;  ///< the report comes now
  std::optional<Status> outcome_;
};

}  // namespace ringlet::watch
