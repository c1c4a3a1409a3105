#include "transport/tcp/striped_link.hpp"

#include <algorithm>

namespace ringlet::transport {

StripedLink::StripedLink(std::vector<std::unique_ptr<Link>> strands, std::size_t stripe_bytes)
    : strands_(std::move(strands)),
      stripe_bytes_(stripe_bytes),
      written_{0, stripe_bytes},
      read_{0, stripe_bytes} {
  RINGLET_ASSERT(strands_.size() >= 2 && stripe_bytes_ > 0);
}

void StripedLink::Advance(StripePosition& place, std::size_t bytes) const {
  place.left -= bytes;
  if (place.left > 0) return;
  place = {(place.strand + 1) % strands_.size(), stripe_bytes_};
}

Result<std::size_t> StripedLink::Write(View data) {
  std::size_t written = 0;
  while (written < data.size()) {
    const std::size_t wanted = std::min(data.size() - written, written_.left);
    const auto now = strands_[written_.strand]->Write(data.subspan(written, wanted));
    if (!now.ok()) return written > 0 ? Result<std::size_t>(written) : now;  // the next call fails
    Advance(written_, *now);
    written += *now;
    if (*now < wanted) break;
  }
  return written;
}

Result<std::size_t> StripedLink::Read(std::span<std::byte> out) {
  std::size_t read = 0;
  while (read < out.size()) {
    const std::size_t wanted = std::min(out.size() - read, read_.left);
    const auto now = strands_[read_.strand]->Read(out.subspan(read, wanted));
    if (!now.ok()) return read > 0 ? Result<std::size_t>(read) : now;
    Advance(read_, *now);
    read += *now;
    if (*now < wanted) break;
  }
  return read;
}

Result<View> StripedLink::Peek() {
  RINGLET_TRY_ASSIGN(const View seen, strands_[read_.strand]->Peek());
  return seen.first(std::min(seen.size(), read_.left));
}

void StripedLink::Consume(std::size_t bytes) {
  strands_[read_.strand]->Consume(bytes);
  Advance(read_, bytes);
}

}  // namespace ringlet::transport
