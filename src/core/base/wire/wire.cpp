#include "base/wire/wire.hpp"

namespace ringlet {

Status Wire::Push(const Received& event) {
  RINGLET_TRY(Push(event.data));
  if (!open()) return Ok();
  if (descriptors_.size() + event.descriptors.size() > kDescriptorsMax)
    return Error{Code::kProtocol, "a peer that sends too many descriptors"};
  descriptors_.insert(descriptors_.end(), event.descriptors.begin(), event.descriptors.end());
  return Ok();
}

Status Wire::Push(const Slice& data) {
  View rest = data.bytes;
  if (!handshake_.done()) {
    RINGLET_TRY(handshake_.Push(rest));
    if (handshake_.done() && encrypts()) BeginRecords();
  }
  if (rest.empty()) return Ok();
  if (!records_) {
    frames_.Push(Slice(rest, data.owner));
    return Ok();
  }
  RINGLET_TRY_ASSIGN(Bytes plain, records_->in.Push(rest));
  if (!plain.empty()) frames_.Push(Slice(Share(std::move(plain))));
  return Ok();
}

void Wire::BeginRecords() {
  const LineKeys keys = handshake_.Keys();
  records_.emplace(Records{RecordSealer(dialled_ ? keys.from_dialler : keys.from_acceptor),
                           RecordOpener(dialled_ ? keys.from_acceptor : keys.from_dialler)});
}

Slice Wire::Seal(const Slice& bytes) {
  RINGLET_ASSERT(open());
  if (!records_ || bytes.bytes.empty()) return bytes;
  return Slice(Share(records_->out.Seal(bytes.bytes)));
}

bool Wire::ConsumeOpened() {
  if (announced_ || !open()) return false;
  announced_ = true;
  return true;
}

}  // namespace ringlet
