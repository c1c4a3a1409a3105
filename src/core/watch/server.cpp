#include "watch/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/value/text.hpp"

namespace ringlet::watch {
namespace {

constexpr std::string_view kNamePrefix = "ringlet.";

}  // namespace

void Server::Handle(const Event& event, Instant now) {
  std::visit(Overloaded{[](const Connected&) {},
                        [&](const Accepted& accepted) {
                          visitors_[accepted.line].expires = now + kQuestionTimeout;
                        },
                        [&](const Received& received) { OnReceived(received, now); },
                        [&](const Closed& closed) { visitors_.erase(closed.line); },
                        [&](const Tick&) { OnTick(now); }},
             event);
}

void Server::OnTick(Instant now) {
  std::vector<LineId> late;
  for (const auto& [line, visitor] : visitors_)
    if (visitor.expires <= now) late.push_back(line);
  for (const LineId line : late) {
    if (visitors_.at(line).asked)
      Answer(line, answers_.give_up(line));
    else
      HangUp(line);
  }
}

std::optional<Instant> Server::Deadline() const {
  std::optional<Instant> first;
  for (const auto& [line, visitor] : visitors_)
    first = first ? std::min(*first, visitor.expires) : visitor.expires;
  return first;
}

void Server::OnReceived(const Received& event, Instant now) {
  const auto it = visitors_.find(event.line);
  if (it == visitors_.end() || it->second.asked) return;
  std::string& question = it->second.question;
  question += AsText(event.data.bytes);
  const std::size_t end = question.find('\n');
  if (std::min(end, question.size()) > kQuestionBytesMax) return HangUp(event.line);
  if (end == std::string::npos) return;
  question.resize(end);
  it->second.asked = true;
  it->second.expires = now + kAnswerTimeout;
  if (auto text = answers_.ask(event.line, question)) Answer(event.line, std::move(*text));
}

void Server::Answer(LineId caller, std::string text) {
  if (!visitors_.contains(caller)) return;
  const View bytes = AsView(text);
  Emit(Send{caller, Slice(Share(Bytes(bytes.begin(), bytes.end()))), {}});
  HangUp(caller);
}

void Server::HangUp(LineId line) {
  visitors_.erase(line);
  Emit(Hangup{line});
}

std::string Server::NameOf(std::uint32_t pid, std::uint64_t identity) {
  return fmt::format("{}{}.{:016x}", kNamePrefix, pid, identity);
}

std::optional<std::uint32_t> Server::PidIn(std::string_view name) {
  if (!name.starts_with(kNamePrefix)) return std::nullopt;
  const std::vector<std::string_view> parts = Split(name.substr(kNamePrefix.size()), '.');
  if (parts.size() != 2 || parts[1].size() != 16) return std::nullopt;
  const auto pid = ParseDecimal(parts[0]);
  if (!pid || *pid == 0 || *pid > 0xffff'ffff) return std::nullopt;
  return static_cast<std::uint32_t>(*pid);
}

}  // namespace ringlet::watch
