#include "base/wire/acceptor.hpp"

namespace ringlet {

void Acceptor::OnAccepted(const Accepted& event, Instant now) {
  Add(event,
      Wire::Accepted(config_.credentials, nonces_->Next(), config_.payload_bytes_max,
                     config_.options),
      now);
}

std::optional<Acceptor::FirstFrame> Acceptor::OnReceived(const Received& event) {
  Wire* const wire = Find(event.line);
  if (!wire) return std::nullopt;
  const Status pushed = wire->Push(event);
  // A reply contains the caller's error, if any.
  if (Bytes reply = wire->TakeReply(); !reply.empty())
    emit()(Send{event.line, Slice(Share(std::move(reply)))});
  if (wire->ConsumeOpened()) Prove(event.line);
  auto frame =
      pushed.ok() && wire->open() ? wire->Next() : Result<std::optional<Frame>>(std::nullopt);
  if (!pushed.ok() || !frame.ok()) {
    RejectCaller(event.line, pushed.ok() ? frame.error().message : pushed.error().message);
    return std::nullopt;
  }
  if (!*frame) return std::nullopt;
  return FirstFrame{event.line, wire->purpose(), std::move(**frame)};
}

void Acceptor::RejectCaller(LineId line, const std::string& why, Bytes last_word) {
  emit()(Send{line, Find(line)->Seal(Slice(Share(std::move(last_word))))});
  RejectCaller(line, why);
}

void Acceptor::Dismiss(LineId line, Bytes frame) {
  emit()(Send{line, Take(line).line.Seal(Slice(Share(std::move(frame))))});
  emit()(Hangup{line});
}

void Acceptor::SendToProven(Purpose purpose, const Slice& frame) {
  for (auto& [line, caller] : all())
    if (caller.line.open() && caller.line.purpose() == purpose)
      emit()(Send{line, caller.line.Seal(frame)});
}

}  // namespace ringlet
