#include "transport/pipe_link.hpp"

#include <fmt/format.h>

#include "os/process_memory.hpp"

namespace ringlet::transport {

PipeLink::~PipeLink() {
  parts_.out.Close();
  parts_.in.Close();
}

Error PipeLink::Lost() const {
  return Error{Code::kPeerLost,
               fmt::format("{} is gone: {}", parts_.peer_name,
                           Gone() ? "its process has ended or given up" : "it closed the link")};
}

Error PipeLink::Named(Error error) const {
  error.message = fmt::format("{} sent nonsense: {}", parts_.peer_name, error.message);
  return error;
}

Result<std::size_t> PipeLink::WriteBoth(View head, View data) {
  if (broken_) return *broken_;
  if (parts_.out.reader_closed() || Gone()) return Lost();
  auto written = parts_.out.Write(head, data);
  if (!written.ok()) broken_ = Named(std::move(written).error());
  return broken_ ? Result<std::size_t>(*broken_) : written;
}

Result<std::size_t> PipeLink::Read(std::span<std::byte> out) {
  if (broken_) return *broken_;
  if (out.empty()) return std::size_t{0};
  // Asked before looking: what the peer wrote before it left is then seen by the look.
  const bool left = WriterLeft();
  auto read = parts_.in.Read(out);
  if (!read.ok()) {
    broken_ = Named(std::move(read).error());
    return *broken_;
  }
  if (*read == 0 && left) return Lost();
  return read;
}

Result<View> PipeLink::Peek() {
  if (broken_) return *broken_;
  const bool left = WriterLeft();
  auto view = parts_.in.Peek();
  if (!view.ok()) {
    broken_ = Named(std::move(view).error());
    return *broken_;
  }
  if (view->empty() && left) return Lost();
  return view;
}

std::uint64_t PipeLink::Offer(View data) {
  if (refused_) return 0;
  parts_.out.CountOffer();
  return reinterpret_cast<std::uintptr_t>(data.data());
}

Result<std::optional<bool>> PipeLink::Answer() {
  const bool left = parts_.out.reader_closed() || Gone();  // before the look, as in Read
  const std::optional<bool> answer = parts_.out.Answer();
  if (!answer && left) return Lost();
  refused_ = answer == false;
  return answer;
}

Result<bool> PipeLink::Fetch(std::uint64_t offer, std::span<std::byte> to) {
  const bool fetched = parts_.peer_pid != 0 && os::ReadMemoryOf(parts_.peer_pid, offer, to);
  // Asked after the data: the peer changes them only once it has withdrawn the offer.
  if (fetched && (parts_.in.withdrawn() || Gone())) return Lost();
  parts_.in.AnswerOffer(fetched);
  return fetched;
}

}  // namespace ringlet::transport
