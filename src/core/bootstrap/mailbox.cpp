#include "bootstrap/mailbox.hpp"

#include <fmt/format.h>

namespace ringlet::bootstrap {

Status Mailbox::Put(Rank from, std::uint64_t tag, Bytes message) {
  if (messages_ >= limits_.messages_max || message.size() > limits_.bytes_max - bytes_)
    return Error{
        Code::kProtocol,
        fmt::format("{} messages of {} bytes have not been received, and rank {} sends one more "
                    "with tag {}: receive them first, or send less ahead",
                    messages_, bytes_, Index(from), tag)};
  ++messages_;
  bytes_ += message.size();
  if (tag >= kPushedTag) {
    pushed_.push_back({from, tag, std::move(message)});
  } else {
    queues_[{from, tag}].push_back(std::move(message));
  }
  return Ok();
}

std::optional<Bytes> Mailbox::Take(Rank from, std::uint64_t tag) {
  const auto it = queues_.find({from, tag});
  if (it == queues_.end()) return std::nullopt;
  Bytes message = std::move(it->second.front());
  it->second.pop_front();
  if (it->second.empty()) queues_.erase(it);
  --messages_;
  bytes_ -= message.size();
  return message;
}

std::optional<PushedMessage> Mailbox::TakePushed() {
  if (pushed_.empty()) return std::nullopt;
  PushedMessage oldest = std::move(pushed_.front());
  pushed_.pop_front();
  --messages_;
  bytes_ -= oldest.message.size();
  return oldest;
}

}  // namespace ringlet::bootstrap
