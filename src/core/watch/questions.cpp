#include "watch/questions.hpp"

#include "watch/status.hpp"

namespace ringlet::watch {

void Questions::Handle(const Event& event, Instant now) {
  if (!begun_) Begin(now);
  std::visit(
      Overloaded{[&](const Connected& connected) {
                   const View bytes = AsView(question_);
                   Emit(Send{connected.line, Slice(Share(Bytes(bytes.begin(), bytes.end()))), {}});
                 },
                 [](const Accepted&) {},
                 [&](const Received& received) {
                   if (received.line >= over_.size() || over_[received.line]) return;
                   std::string& answer = answers_[received.line];
                   answer += AsText(received.data.bytes);
                   if (answer.size() <= kStatusBytesMax) return;
                   Emit(Hangup{received.line});
                   Close(received.line, /*keeps=*/false);
                 },
                 [&](const Closed& closed) { Close(closed.line, /*keeps=*/true); },
                 [](const Tick&) {}},
      event);
  if (now < expires_) return;
  for (std::size_t index = 0; index < over_.size(); ++index) {
    if (over_[index]) continue;
    Emit(Hangup{static_cast<LineId>(index)});
    Close(index, /*keeps=*/false);
  }
}

std::optional<Instant> Questions::Deadline() const {
  return open_ == 0 ? std::nullopt : std::optional(expires_);
}

void Questions::Begin(Instant now) {
  begun_ = true;
  expires_ = now + timeout_;
  open_ = processes_.size();
  over_.resize(open_);
  for (std::size_t index = 0; index < processes_.size(); ++index)
    Emit(Dial{static_cast<LineId>(index), processes_[index]});
}

void Questions::Close(std::size_t index, bool keeps) {
  if (index >= over_.size() || over_[index]) return;
  over_[index] = true;
  --open_;
  if (!keeps) answers_[index].clear();
}

}  // namespace ringlet::watch
