#include "watcher/client/ras_client.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"
#include "watch/ras/ras_words.hpp"

namespace ringlet::watch {
namespace {

constexpr std::size_t kAnswerLineBytesMax = 4096;
constexpr std::size_t kQuotedBytesMax = 128;

}  // namespace

RasClient::RasClient(Question question, std::function<void(std::string_view)> on_text)
    : question_(std::move(question)), on_text_(std::move(on_text)) {
  commands_.emplace_back("CLIENT PROTOCOL 2");
  if (question_.timeout) commands_.push_back(fmt::format("TIMEOUT {}", question_.timeout->count()));
  if (question_.format) commands_.push_back("SET FORMAT " + *question_.format);
  if (question_.events)
    commands_.push_back(question_.events->empty() ? "MONITOR" : "MONITOR " + *question_.events);
}

void RasClient::Handle(const Event& event, Instant now) {
  if (outcome_) return;
  std::visit(Overloaded{[&](const Connected&) { SendNextCommand(now); }, [](const Accepted&) {},
                        [&](const Received& received) {
                          if (received.line == line_) OnText(AsText(received.data.bytes), now);
                        },
                        [&](const Closed& closed) {
                          if (closed.line == line_) OnClosed(closed.why, now);
                        },
                        [&](const Tick&) {
                          if (!deadline_ || *deadline_ > now) return;
                          if (calls_ > 0) Emit(Hangup{line_});
                          if (said_ <= 1 && !reports_) return Call(now);
                          Finish(Error{Code::kTimeout, "the RAS server does not answer in time"});
                        }},
             event);
}

std::optional<Instant> RasClient::Deadline() const {
  return outcome_ ? std::nullopt : deadline_;
}

void RasClient::Call(Instant now) {
  if (calls_ >= kCallsMax)
    return Finish(
        Error{Code::kTimeout, "the RAS server does not answer: its process may be stopped"});
  const Address& to = question_.servers[server_];
  ++calls_;
  said_ = 0;
  unread_.clear();
  line_ = static_cast<LineId>(calls_);
  deadline_ = now + kGreetingTimeout;
  Emit(Dial{line_, to});
}

void RasClient::OnClosed(const std::string& why, Instant now) {
  if (reports_ && !question_.events && report_bytes_ > 0) return Finish(Ok());
  if (reports_)
    return Finish(Error{Code::kPeerLost,
                        "the RAS server has closed the connection: its process has ended, or its "
                        "last communicator is destroyed"});
  // A server that closes before its greeting has too many clients, or has just ended.
  if (said_ == 1 && unread_.empty()) return Call(now);
  if (said_ == 0 && ++server_ < question_.servers.size()) return Call(now);
  Finish(Error{Code::kPeerLost,
               fmt::format("no RAS server at {}: {}", ToString(question_.servers.front()), why)});
}

void RasClient::OnText(std::string_view text, Instant now) {
  unread_ += text;
  while (!reports_ && !outcome_) {
    const std::size_t end = unread_.find('\n');
    if (end == std::string::npos) {
      if (unread_.size() > kAnswerLineBytesMax) OnLine(unread_, now);
      return;
    }
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    OnLine(line, now);
  }
  if (outcome_ || unread_.empty()) return;
  report_bytes_ += unread_.size();
  on_text_(unread_);
  unread_.clear();
  if (!question_.events && report_bytes_ > kReportBytesMax)
    Finish(Error{Code::kProtocol, "the RAS server's report is incomplete"});
}

void RasClient::OnLine(std::string_view line, Instant now) {
  std::string_view rest = line;
  const bool fits = said_ == 1 ? TakeWord(rest, "server protocol") : IsWord(line, "ok");
  if (fits) return SendNextCommand(now);
  Emit(Hangup{line_});
  Finish(Error{
      Code::kProtocol,
      fmt::format(
          "the answer to {} is {}: the peer is not a RAS server, or does not support that command",
          Quoted(commands_[said_ - 1]), Quoted(Printable(line, kQuotedBytesMax)))});
}

void RasClient::SendNextCommand(Instant now) {
  if (said_ < commands_.size()) {
    deadline_ = now + (said_ == 0 ? kGreetingTimeout : kReportSlack);
    return SendCommand(commands_[said_++]);
  }
  reports_ = true;
  deadline_.reset();
  if (question_.events) return;  // events arrive unprompted, without a deadline
  const Instant timeout = question_.timeout ? Instant(*question_.timeout) : kRankTimeout;
  if (timeout > Instant(0)) deadline_ = now + kReportSlack + timeout;
  SendCommand(question_.verbose ? "VERBOSE STATUS" : "STATUS");
}

void RasClient::SendCommand(const std::string& command) {
  const std::string text = command + "\n";
  const View bytes = AsView(text);
  Emit(Send{line_, Slice(Share(Bytes(bytes.begin(), bytes.end()))), {}});
}

void RasClient::Finish(Status outcome) {
  outcome_ = std::move(outcome);
}

}  // namespace ringlet::watch
