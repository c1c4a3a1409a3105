#include "base/wire/dialler.hpp"

#include <algorithm>

namespace ringlet {
namespace {

constexpr const char* kUnanswered = "connected, but it did not answer: its process may be stopped";

}  // namespace

void Dialler::Advance(Instant now) {
  if (stopped_) return;
  if (!started_) {
    started_ = true;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      targets_[i].due = now + config_.timing.hesitation * static_cast<std::int64_t>(i);
  }
  std::vector<LineId> expired;
  for (const auto& [line, attempt] : attempts_)
    if (now >= attempt.expires) expired.push_back(line);
  for (const LineId line : expired) {
    emit_(Hangup{line});
    Fail(line, Reached(line) ? kUnanswered : "no answer", false, now);
  }
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (!targets_[i].busy && !targets_[i].hopeless && now >= targets_[i].due) DialTarget(i, now);
}

void Dialler::DialTarget(std::size_t index, Instant now) {
  Target& target = targets_[index];
  target.busy = true;
  if (target.reason == "not tried") target.reason = "no answer";
  const LineId line = (*next_line_)++;
  attempts_.emplace(line, Attempt{index, now + config_.timing.attempt, std::nullopt});
  emit_(Dial{line, config_.addresses[index]});
}

void Dialler::OnConnected(const Connected& event) {
  const LineId line = event.line;
  Attempt& attempt = attempts_.at(line);
  if (event.pid != 0) pid_ = event.pid;
  targets_[attempt.target].reason = kUnanswered;
  attempt.wire = Wire::Dialled(config_.credentials, config_.purpose, nonces_->Next(),
                               config_.payload_bytes_max, config_.options);
  emit_(Send{line, Slice(Share(attempt.wire->TakeReply()))});
}

void Dialler::OnClosed(LineId line, const std::string& why, Instant now) {
  Fail(line, why, false, now);
}

void Dialler::Fail(LineId line, const std::string& why, bool hopeless, Instant now) {
  const auto it = attempts_.find(line);
  if (it == attempts_.end()) return;
  const std::size_t index = it->second.target;
  Target& target = targets_[index];
  target.failures = Reached(line) ? 0 : target.failures + 1;
  attempts_.erase(it);
  target.busy = false;
  target.hopeless = hopeless;
  Postpone(target, why, now);
  // The addresses after this one need not wait any longer.
  for (std::size_t i = index + 1; i < targets_.size(); ++i)
    if (!targets_[i].busy && targets_[i].reason == "not tried") {
      targets_[i].due = now;
      break;
    }
}

void Dialler::Postpone(Target& target, const std::string& why, Instant now) {
  const DialTiming& timing = config_.timing;
  target.reason = why;
  target.pause = std::clamp(target.pause * 2, timing.retry_first, timing.retry_most);
  const auto jitter_percent = 75 + std::to_integer<std::int64_t>(nonces_->Next()[0]) * 50 / 255;
  target.due = now + target.pause * jitter_percent / 100;
}

void Dialler::Resume(const Address& address, const std::string& why, Instant now) {
  stopped_ = false;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    targets_[i].busy = false;
    targets_[i].due = now;
    if (config_.addresses[i] == address) Postpone(targets_[i], why, now);
  }
}

std::optional<Dialler::Opened> Dialler::OnReceived(const Received& event, Instant now) {
  const LineId line = event.line;
  const auto it = attempts_.find(line);
  if (it == attempts_.end() || !it->second.wire) return std::nullopt;
  Wire& wire = *it->second.wire;
  if (const Status status = wire.Push(event); !status.ok()) {
    emit_(Hangup{line});
    Fail(line, status.error().message, true, now);
    return std::nullopt;
  }
  if (Bytes reply = wire.TakeReply(); !reply.empty())
    emit_(Send{line, Slice(Share(std::move(reply)))});
  if (!wire.ConsumeOpened()) return std::nullopt;
  Opened opened{line, std::move(wire), config_.addresses[it->second.target]};
  attempts_.erase(it);
  Stop();
  return opened;
}

void Dialler::Stop() {
  for (const auto& [line, attempt] : attempts_) emit_(Hangup{line});
  attempts_.clear();
  stopped_ = true;
}

std::optional<Instant> Dialler::Deadline() const {
  if (stopped_) return std::nullopt;
  std::optional<Instant> deadline;
  const auto include = [&](Instant when) {
    deadline = deadline ? std::min(*deadline, when) : when;
  };
  for (const auto& [line, attempt] : attempts_) include(attempt.expires);
  for (const Target& target : targets_)
    if (!target.busy && !target.hopeless) include(target.due);
  return deadline;
}

bool Dialler::hopeless() const {
  return std::ranges::all_of(targets_, [](const Target& target) { return target.hopeless; });
}

std::uint32_t Dialler::failures() const {
  std::optional<std::uint32_t> least;
  for (const Target& target : targets_)
    if (!target.hopeless) least = std::min(least.value_or(target.failures), target.failures);
  return least.value_or(0);
}

std::string Dialler::Reasons() const {
  std::string text;
  for (std::size_t i = 0; i < targets_.size(); ++i)
    text += (i == 0 ? "" : ", ") + ToString(config_.addresses[i]) + ": " + targets_[i].reason;
  return text.empty() ? "it has no address" : text;
}

}  // namespace ringlet
