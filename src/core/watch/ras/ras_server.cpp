#include "watch/ras/ras_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/value/text.hpp"
#include "watch/ras/ras_words.hpp"

namespace ringlet::watch {
namespace {

// Maximum bytes of a client's command in an answer that refuses it.
constexpr std::size_t kRefusedBytesMax = 128;

std::string Refusal(std::string_view what, std::string_view said) {
  return fmt::format("ERROR: {} {}\n", what, Printable(said, kRefusedBytesMax));
}

}  // namespace

void RasServer::Handle(const Event& event, Instant now) {
  std::visit(
      Overloaded{[](const Connected&) {},
                 [&](const Accepted& accepted) { OnAccepted(accepted.line, now); },
                 [&](const Received& received) { OnReceived(received, now); },
                 [&](const Closed& closed) { clients_.erase(closed.line); }, [&](const Tick&) {}},
      event);
  OnTick(now);
}

void RasServer::OnAccepted(LineId line, Instant now) {
  if (clients_.size() >= kClientsMax) {
    auto silent = clients_.end();
    for (auto it = clients_.begin(); it != clients_.end(); ++it)
      if (!it->second.has_spoken &&
          (silent == clients_.end() || it->second.called < silent->second.called))
        silent = it;
    if (silent == clients_.end()) return Emit(Hangup{line});
    HangUp(silent->first);
  }
  clients_.emplace(line, Client{.expires = now + kCommandTimeout, .called = now});
}

void RasServer::OnReceived(const Received& event, Instant now) {
  const auto it = clients_.find(event.line);
  if (it == clients_.end()) return;
  Client& client = it->second;
  // Ignores input after a report request, because the report ends the connection.
  if (client.waits) return;
  client.unread += AsText(event.data.bytes);
  std::size_t begin = 0;
  for (std::size_t end = 0;
       !client.waits && (end = client.unread.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    std::string_view command = std::string_view(client.unread).substr(begin, end - begin);
    if (command.size() > kLineBytesMax || ++client.commands > kCommandsMax)
      return HangUp(event.line);
    if (command.ends_with('\r')) command.remove_suffix(1);
    OnCommand(event.line, client, command, now);
    if (!clients_.contains(event.line)) return;
  }
  client.unread.erase(0, begin);
  if (client.unread.size() > kLineBytesMax) HangUp(event.line);
}

void RasServer::OnTick(Instant now) {
  std::vector<LineId> late;
  for (const auto& [line, client] : clients_)
    if (client.expires > Instant(0) && client.expires <= now) late.push_back(line);
  for (const LineId line : late) HangUp(line);
  if (look_began_ && look_expires_ <= now) OnLook(owner_.give_up(), now);
  if (!HasMonitors()) {
    next_look_ = Instant(0);
    peers_.reset();
  } else if (!look_began_ && next_look_ <= now) {
    Look(now, kLookTimeoutMax);
  }
}

std::optional<Instant> RasServer::Deadline() const {
  std::optional<Instant> first;
  const auto consider = [&](Instant when) { first = first ? std::min(*first, when) : when; };
  for (const auto& [line, client] : clients_)
    if (client.expires > Instant(0)) consider(client.expires);
  if (look_began_)
    consider(look_expires_);
  else if (next_look_ > Instant(0))
    consider(next_look_);
  return first;
}

void RasServer::OnCommand(LineId line, Client& client, std::string_view command, Instant now) {
  if (client.events == kNoEvents) client.expires = now + kCommandTimeout;
  std::string_view rest = command;
  bool known = true;
  if (TakeWord(rest, "client protocol"))
    SendText(line, fmt::format("SERVER PROTOCOL {}\n", kProtocolVersion));
  else if (TakeWord(rest, "timeout"))
    SendText(line, SetTimeout(client, rest));
  else if (TakeWord(rest, "set format"))
    SendText(line, SetFormat(client, rest));
  else if (IsWord(command, "status"))
    Report(line, client, false, now);
  else if (IsWord(command, "verbose status"))
    Report(line, client, true, now);
  else if (IsWord(command, "monitor"))
    SendText(line, Monitor(client, "", now));
  else if (TakeWord(rest, "monitor"))
    SendText(line, Monitor(client, rest, now));
  else
    known = false;
  if (!known) SendText(line, Refusal("Unknown command", command));
  client.has_spoken = client.has_spoken || known;
}

std::string RasServer::SetTimeout(Client& client, std::string_view seconds) {
  const auto value = ParseDecimal(seconds);
  if (!value) return Refusal("Invalid timeout value", seconds);
  client.timeout = kLookTimeoutMax;
  if (*value > 0 && *value < static_cast<std::uint64_t>(kLookTimeoutMax / std::chrono::seconds(1)))
    client.timeout = std::chrono::seconds(*value);
  return "OK\n";
}

std::string RasServer::SetFormat(Client& client, std::string_view format) {
  if (!IsWord(format, "text") && !IsWord(format, "json")) return Refusal("Invalid format", format);
  client.json = IsWord(format, "json");
  return "OK\n";
}

std::string RasServer::Monitor(Client& client, std::string_view words, Instant now) {
  std::string wrong;
  const auto events = ParseRasEvents(words, wrong);
  if (!events) return Refusal("Invalid event group", Quoted(wrong));
  const auto monitors = std::ranges::count_if(
      clients_, [](const auto& entry) { return entry.second.events != kNoEvents; });
  if (client.events == kNoEvents && monitors >= static_cast<std::ptrdiff_t>(kMonitorsMax))
    return fmt::format("ERROR: {} clients monitor this process already\n", monitors);
  client.events = *events;
  client.expires = Instant(0);
  if (next_look_ == Instant(0)) next_look_ = now;
  return "OK\n";
}

void RasServer::Report(LineId line, Client& client, bool verbose, Instant now) {
  if (client.events != kNoEvents) return SendText(line, "ERROR: this client monitors events\n");
  client.waits = true;
  client.verbose = verbose;
  client.expires = Instant(0);  // the look has its own deadline
  Look(now, client.timeout);
}

// Joins a running look, if any.
void RasServer::Look(Instant now, Instant timeout) {
  if (look_began_) {
    look_expires_ = std::min(look_expires_, now + timeout);
    return;
  }
  look_began_ = now;
  look_expires_ = now + timeout;
  owner_.look();
}

void RasServer::OnLook(const std::vector<JobStatus>& jobs, Instant now) {
  if (!look_began_) return;
  RasHeader header{.nccl_version = owner_.nccl_version,
                   .timestamp = owner_.timestamp(),
                   .took = now - *look_began_};
  look_began_.reset();
  if (next_look_ > Instant(0)) next_look_ = now + kMonitorPeriod;
  std::map<std::pair<bool, bool>, Slice> reports;  // by form; clients share them
  std::vector<LineId> answered;
  for (const auto& [line, client] : clients_) {
    if (!client.waits) continue;
    Slice& report = reports[{client.json, client.verbose}];
    if (report.bytes.empty()) {
      header.verbose = client.verbose;
      const std::string text = client.json ? RasJson(jobs, header) : RasText(jobs, header);
      report = Slice(Share(Bytes(AsView(text).begin(), AsView(text).end())));
    }
    Emit(Send{line, report, {}});
    answered.push_back(line);
  }
  for (const LineId line : answered) HangUp(line);
  if (HasMonitors()) SendEvents(RasPeersOf(jobs));
}

void RasServer::SendEvents(const std::vector<RasPeer>& peers) {
  const std::vector<RasEvent> events =
      peers_ ? RasEventsBetween(*peers_, peers) : std::vector<RasEvent>();
  peers_ = peers;
  std::vector<LineId> slow;
  for (auto& [line, client] : clients_)
    for (const RasEvent& event : events) {
      if ((client.events & event.group) == 0) continue;
      const std::string text =
          client.json ? RasJson(event, owner_.timestamp()) : RasText(event, owner_.timestamp());
      client.event_bytes += text.size();
      if (client.event_bytes > kMonitorBytesMax) {
        slow.push_back(line);
        break;
      }
      SendText(line, text);
    }
  for (const LineId line : slow) HangUp(line);
}

bool RasServer::HasMonitors() const {
  return std::ranges::any_of(clients_,
                             [](const auto& entry) { return entry.second.events != kNoEvents; });
}

void RasServer::SendText(LineId line, std::string_view text) {
  const View bytes = AsView(text);
  Emit(Send{line, Slice(Share(Bytes(bytes.begin(), bytes.end()))), {}});
}

void RasServer::HangUp(LineId line) {
  clients_.erase(line);
  Emit(Hangup{line});
}

}  // namespace ringlet::watch
