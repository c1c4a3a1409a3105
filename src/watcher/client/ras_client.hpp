// The client side of NCCL's RAS protocol, for Ringlet's and NCCL's servers, without I/O.
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
  /// Timeout for the first word of a server. Several processes may listen at one port, and one may
  /// be stopped. The next call may reach another one.
  static constexpr Instant kGreetingTimeout = std::chrono::seconds(1);
  static constexpr std::size_t kCallsMax = 12;
  /// Added to the ranks' timeout for the timeout of a report.
  static constexpr Instant kReportSlack = std::chrono::seconds(10);
  static constexpr Instant kRankTimeout = std::chrono::seconds(5);  ///< NCCL's default
  static constexpr std::size_t kReportBytesMax = std::size_t{256} << 20;

  struct Question {
    std::vector<Address> servers = {};  ///< of one host, tried in turn; not empty
    bool verbose = false;
    std::optional<std::string> format = {};            ///< "json"
    std::optional<std::chrono::seconds> timeout = {};  ///< timeout for the ranks
    std::optional<std::string> events = {};            ///< monitors these groups; empty: NCCL's
  };
  /// \param on_text  receives each piece of the server's report
  RasClient(Question question, std::function<void(std::string_view)> on_text);

  void Handle(const Event& event, Instant now) override;
  std::optional<Instant> Deadline() const override;
  bool Finished() const override { return outcome_.has_value(); }

  /// Outcome of a finished query.
  /// Errors  kPeerLost  no server, or it has closed too early
  ///         kTimeout   it does not answer in time
  ///         kProtocol  its answer is not RAS
  const std::optional<Status>& outcome() const { return outcome_; }

 private:
  void Call(Instant now);
  void OnClosed(const std::string& why, Instant now);
  void OnText(std::string_view text, Instant now);
  void OnLine(std::string_view line, Instant now);
  void SendNextCommand(Instant now);
  void SendCommand(const std::string& command);
  void Finish(Status outcome);

  const Question question_;
  const std::function<void(std::string_view)> on_text_;
  std::vector<std::string> commands_;  ///< before the last one; each has an answer of one line
  std::size_t said_ = 0;
  std::size_t calls_ = 0;
  std::size_t server_ = 0;  ///< the present one
  LineId line_ = 0;
  std::optional<Instant> deadline_ = Instant(1);  ///< at once
  std::string unread_;
  std::size_t report_bytes_ = 0;
  bool reports_ = false;  ///< the report is being received
  std::optional<Status> outcome_;
};

}  // namespace ringlet::watch
