#include "transport/shm/pipe_link.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>

namespace ringlet::transport {
namespace {

// Marks offers of registered memory. Addresses in user space have this bit clear.
constexpr std::uint64_t kRegisteredBit = std::uint64_t{1} << 63;

}  // namespace

PipeLink::PipeLink(PipeLinkParts parts) : parts_(std::move(parts)) {}

PipeLink::~PipeLink() {
  parts_.out.Close();
  parts_.in.Close();
}

Error PipeLink::LostError() const {
  return Error{Code::kPeerLost, fmt::format("{} is gone: {}", parts_.peer_name,
                                            IsPeerGone() ? "its process has ended or given up"
                                                         : "it closed the link")};
}

Error PipeLink::Named(Error error) const {
  error.message = fmt::format("{} sent invalid data: {}", parts_.peer_name, error.message);
  return error;
}

Result<std::size_t> PipeLink::WriteBoth(View head, View data) {
  if (broken_) return *broken_;
  if (parts_.out.reader_closed() || IsPeerGone()) return LostError();
  auto written = parts_.out.Write(head, data);
  if (!written.ok()) broken_ = Named(std::move(written).error());
  return broken_ ? Result<std::size_t>(*broken_) : written;
}

Result<std::size_t> PipeLink::Read(std::span<std::byte> out) {
  if (broken_) return *broken_;
  if (out.empty()) return std::size_t{0};
  // Loaded before the pipe, so that Read still finds everything that the peer wrote before it left.
  const bool left = WriterLeft();
  auto read = parts_.in.Read(out);
  if (!read.ok()) {
    broken_ = Named(std::move(read).error());
    return *broken_;
  }
  if (*read == 0 && left) return LostError();
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
  if (view->empty() && left) return LostError();
  return view;
}

// Returns the number of an offer: an address in this process, or a position in registered memory.
std::uint64_t PipeLink::OfferNumber(View data) {
  const RtsSizes& sizes = parts_.offers;
  const std::uint64_t address = RemoteAddress::Of(data.data()).told();
  if (parts_.own_offer != nullptr) return data.size() >= sizes.reached_min ? address : 0;
  told_mapping_ = false;
  if (parts_.registered && !refuses_mapping_ && data.size() >= sizes.reached_min) {
    const auto place = parts_.registered->Find(data.data(), data.size());
    const auto packed = place ? place->Packed() : std::nullopt;
    told_mapping_ = packed.has_value();
    if (packed) return kRegisteredBit | *packed;
  }
  const bool reads =
      sizes.ticks ? ChoosePath(data.size()) == DataPath::kRead : data.size() >= sizes.kernel_min;
  return reads && !refuses_reading_ && (address & kRegisteredBit) == 0 ? address : 0;
}

PipeLink::DataPath PipeLink::ChoosePath(std::size_t bytes) {
  constexpr std::uint32_t kPaths = 3;
  // The first bytes of a pipe are slow, because the kernel provides the pages of its ring.
  if (!parts_.out.has_wrapped()) return DataPath::kCopied;
  if (races_.empty()) races_.assign(std::numeric_limits<std::size_t>::digits + 1, Race(kPaths));
  Race& race = races_[static_cast<std::size_t>(std::bit_width(bytes))];
  const bool may_time = !untimed_ || untimed_ == &race;
  untimed_ = timed_ ? &race : nullptr;
  if (!timed_ && may_time)
    timed_ = TimedMessage{.race = &race, .bytes = bytes, .begin = parts_.offers.ticks()};
  const auto path = static_cast<DataPath>(race.way());
  parts_.out.set_stream(path == DataPath::kStreamed ? parts_.offers.stream : nullptr);
  return path;
}

// Records the time per byte of the timed message once both ends are done with it. The time begins
// when both ranks are ready, so that it does not contain the delay of a rank that is late. A time
// that is not positive is ignored, because then the clocks of the ranks differ.
void PipeLink::RecordTime() {
  if (!timed_) return;
  const auto times = parts_.out.TimesOfReader();
  if (!times) return;
  constexpr std::uint64_t kUnit = 64 << 10;
  const std::uint64_t begin = std::max(timed_->begin, times->from);
  const std::uint64_t end = std::max(timed_->acknowledged, times->until);
  if (end > begin) timed_->race->Record((end - begin) * kUnit / timed_->bytes);
  timed_.reset();
}

std::uint64_t PipeLink::SendRts(View data) {
  RecordTime();
  if (timed_) timed_->is_current = false;
  const std::uint64_t told = OfferNumber(data);
  parts_.out.CountMessage(timed_ && timed_->is_current);
  if (told != 0) parts_.out.CountRts();
  return told;
}

void PipeLink::BeginReceive() {
  if (IsTimed()) ready_ = parts_.offers.ticks();
}

void PipeLink::EndReceive() {
  if (IsTimed() && parts_.in.CountMessage())
    parts_.in.ShowTimes({.from = ready_, .until = parts_.offers.ticks()});
}

Result<std::optional<bool>> PipeLink::TakeAck() {
  const bool left =
      parts_.out.reader_closed() || IsPeerGone();  // loaded before the answer, as in Read
  const std::optional<bool> answer = parts_.out.TakeAck();
  if (!answer && left) return LostError();
  if (answer && timed_ && timed_->is_current) timed_->acknowledged = parts_.offers.ticks();
  if (answer == false) (told_mapping_ ? refuses_mapping_ : refuses_reading_) = true;
  return answer;
}

void PipeLink::Withdraw() {
  if (parts_.own_offer == nullptr) return parts_.out.Withdraw();
  const std::lock_guard lock(*parts_.own_offer);
  parts_.out.Withdraw();
}

bool PipeLink::GetPiece(std::uint64_t offer, std::size_t at, std::span<std::byte> to,
                        CopyFunction copy) {
  if ((offer & kRegisteredBit) == 0)
    return os::ReadMemoryOf(parts_.process, RemoteAddress(offer) + at, to);
  if (!parts_.registered) return false;
  BufferPlace place = BufferPlace::Unpack(offer);
  place.offset += at;
  const std::byte* const from = parts_.registered->Reach(Index(parts_.peer), place, to.size());
  if (from == nullptr) return false;
  copy({from, to.size()}, to.data());
  return true;
}

Result<bool> PipeLink::Get(std::uint64_t offer, std::size_t at, std::span<std::byte> to,
                           CopyFunction copy) {
  if (parts_.peer_offer != nullptr) {
    // A rank that withdraws its offer waits for this lock, and then owns its memory again.
    const std::lock_guard lock(*parts_.peer_offer);
    if (parts_.in.withdrawn()) return LostError();
    // The offer is an address that another thread of this process sent.
    copy({reinterpret_cast<const std::byte*>(offer) + at, to.size()}, to.data());
    return true;
  }
  const bool fetched = GetPiece(offer, at, to, copy);
  // Checked after the copy: the peer changes the data only after it has withdrawn the offer.
  if (fetched && (parts_.in.withdrawn() || IsPeerGone())) return LostError();
  return fetched;
}

}  // namespace ringlet::transport
