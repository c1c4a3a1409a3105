#include "comm/run/one_sided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/value/text.hpp"
#include "transport/link/copy.hpp"

namespace ringlet::comm {
namespace {

constexpr std::uint64_t kTag = bootstrap::kPushedTag;

/// The first byte of a message. On the wire: add, never change.
enum class OneSidedType : std::uint8_t {
  kAsk = 1,     ///< u32 window: queries its size and place
  kTell = 2,    ///< u32 window, u64 bytes, u64 packed place or 0
  kPut = 3,     ///< u32 window, u64 offset, u8 whether it raises, u32 context, u32 number, the data
  kSignal = 4,  ///< u32 context, u32 number
  kArrived = 5,  ///< confirms the oldest unconfirmed put or signal
  kRefused = 6,  ///< reason
};

/// Maximum size of one message. The owner's service thread copies it while others wait.
constexpr std::size_t kPieceBytes = 256 << 10;
/// Maximum number of unanswered messages to one peer. Its service thread may have to hold them.
constexpr std::uint64_t kPiecesMax = 4;
/// This rank copies so many bytes itself between two checks.
constexpr std::size_t kCopyBytes = 1 << 20;
/// Maximum number of windows that a peer may be ahead in opening them.
constexpr std::uint32_t kWindowsAhead = 1 << 12;
constexpr std::size_t kReasonMax = 400;

Bytes MessageOf(OneSidedType type, const Writer& rest = {}) {
  Writer out;
  return out.U8(static_cast<std::uint8_t>(type)).Raw(rest.view()).Take();
}

}  // namespace

OneSided::OneSided(Control& control, std::function<void()> wake, HostMemory& memory,
                   const RegisteredHeap& heap)
    : control_(control), wake_(std::move(wake)), memory_(memory), heap_(heap) {
  control_.SetPushHandler([this](const bootstrap::PushedMessage& pushed) { OnMessage(pushed); });
}

// ---- registered memory --------------------------------------------------------------------------

Result<std::uint64_t> OneSided::Register(View memory) {
  if (const auto failed = control_.failure()) return *failed;
  if (memory.empty()) return Error{Code::kInvalidArgument, "0 bytes cannot be registered"};
  return memory_.buffers().Register(memory, heap_.Find(memory));
}

Status OneSided::Deregister(std::uint64_t registration) {
  return memory_.buffers().Deregister(registration);
}

// Works within the host, where ranks can access each other's registered memory.
std::optional<transport::BufferPlace> OneSided::PlaceOf(View memory) const {
  if (!memory_.IsHere()) return std::nullopt;
  return memory_.buffers().Find(memory.data(), memory.size());
}

std::byte* OneSided::Reach(Rank peer, const transport::BufferPlace& place,
                           std::size_t bytes) const {
  if (!memory_.IsHere() || place.name == 0) return nullptr;
  return memory_.buffers().Reach(Index(peer), place, bytes);
}

// ---- windows ------------------------------------------------------------------------------------

std::string OneSided::NoWindow(std::uint32_t window) const {
  return window > opened_ ? fmt::format("window {} does not exist yet", window)
                          : fmt::format("window {} is deregistered", window);
}

Result<std::uint32_t> OneSided::Open(std::span<std::byte> memory, std::uint32_t flags) {
  RINGLET_TRY_ASSIGN(const std::uint64_t registration, Register(memory));
  const std::lock_guard lock(mutex_);
  const std::uint32_t number = ++opened_;
  windows_.emplace(number, Window{memory, registration, flags});
  for (auto it = asking_.begin(); it != asking_.end();) {
    if (it->second == number) SendWindow(it->first, number, memory);
    it = it->second == number ? asking_.erase(it) : std::next(it);
  }
  return number;
}

Status OneSided::Close(std::uint32_t window) {
  std::uint64_t registration = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto it = windows_.find(window);
    if (it == windows_.end()) return Error{Code::kInvalidArgument, NoWindow(window)};
    registration = it->second.registration;
    windows_.erase(it);
    std::erase_if(known_, [&](const auto& entry) { return entry.first.second == window; });
  }
  return Deregister(registration);
}

Result<OneSided::Window> OneSided::Find(std::uint32_t window) const {
  const std::lock_guard lock(mutex_);
  const auto it = windows_.find(window);
  if (it == windows_.end()) return Error{Code::kInvalidArgument, NoWindow(window)};
  return it->second;
}

bool OneSided::HasWindowOf(View memory, std::uint32_t flags) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(windows_, [&](const auto& entry) {
    const auto& [its, registration, its_flags] = entry.second;
    return (its_flags & flags) == flags && memory.data() >= its.data() &&
           memory.data() + memory.size() <= its.data() + its.size();
  });
}

// ---- messages of peers --------------------------------------------------------------------------

void OneSided::Send(Rank to, Bytes message) {
  static_cast<void>(control_.Send(to, kTag, std::move(message)));  // a failure is known elsewhere
}

void OneSided::SendWindow(Rank whom, std::uint32_t window, std::span<std::byte> memory) {
  std::uint64_t packed = 0;
  if (const auto place = PlaceOf(memory)) packed = place->Packed().value_or(0);
  Writer told;
  told.U32(window).U64(memory.size()).U64(packed);
  Send(whom, MessageOf(OneSidedType::kTell, told));
}

void OneSided::Refuse(Rank whom, const std::string& why) {
  Writer told;
  told.Raw(AsView(why));
  Send(whom, MessageOf(OneSidedType::kRefused, told));
}

void OneSided::OnMessage(const bootstrap::PushedMessage& pushed) {
  Reader in(pushed.message);
  const Status taken =
      pushed.tag == kTag ? Take(pushed.from, in) : Status(Error{Code::kProtocol, "an unknown tag"});
  if (!taken.ok())
    control_.Fail({taken.error().code, fmt::format("{} sent an invalid message for a window: {}",
                                                   control_.roster().DescribeRank(pushed.from),
                                                   taken.error().message)});
  wake_();
}

Status OneSided::Take(Rank from, Reader& in) {
  const std::lock_guard lock(mutex_);
  switch (static_cast<OneSidedType>(in.U8())) {
    case OneSidedType::kAsk: return HandleQuery(from, in);
    case OneSidedType::kTell: return HandleWindow(from, in);
    case OneSidedType::kPut: return HandlePut(from, in);
    case OneSidedType::kSignal: return HandleSignal(from, in);
    case OneSidedType::kArrived: return HandleArrived(from);
    case OneSidedType::kRefused: {
      const View why = in.Raw(std::min(in.remaining(), kReasonMax));
      traffic_[from].refused = Error{
          Code::kInvalidArgument,
          fmt::format(
              "{}: {}", control_.roster().DescribeRank(from),
              Printable({reinterpret_cast<const char*>(why.data()), why.size()}, kReasonMax))};
      return Ok();
    }
  }
  return Error{Code::kProtocol, "an unknown message"};
}

Status OneSided::HandleQuery(Rank from, Reader& in) {
  const std::uint32_t window = in.U32();
  if (!in.AtEnd()) return Error{Code::kProtocol, "a request that does not parse"};
  const auto it = windows_.find(window);
  if (it != windows_.end()) {
    SendWindow(from, window, it->second.memory);
  } else if (window > opened_ && window - opened_ <= kWindowsAhead) {
    asking_.emplace(from, window);  // answered when this rank opens the window
  } else {
    Refuse(from, NoWindow(window));
  }
  return Ok();
}

Status OneSided::HandleWindow(Rank from, Reader& in) {
  const std::uint32_t window = in.U32();
  const std::uint64_t bytes = in.U64(), packed = in.U64();
  const auto asked = known_.find({from, window});
  if (!in.AtEnd() || asked == known_.end())
    return Error{Code::kProtocol, "an answer without a request"};
  asked->second = PeerWindow{bytes, transport::BufferPlace::Unpack(packed)};
  return Ok();
}

Status OneSided::HandlePut(Rank from, Reader& in) {
  const std::uint32_t window = in.U32();
  const std::uint64_t offset = in.U64();
  const bool raises = in.U8() != 0;
  Signal signal;
  signal.context = in.U32();
  signal.number = in.U32();
  const View data = in.Raw(in.remaining());
  if (!in.ok() || !signal.Exists()) return Error{Code::kProtocol, "a put that does not parse"};
  const auto it = windows_.find(window);
  if (it == windows_.end()) {
    Refuse(from, NoWindow(window));
    return Ok();
  }
  const std::span<std::byte> memory = it->second.memory;
  if (offset > memory.size() || data.size() > memory.size() - offset)
    return Error{Code::kProtocol, fmt::format("{} bytes at {} of window {}, which has {}",
                                              data.size(), offset, window, memory.size())};
  std::ranges::copy(data, memory.begin() + static_cast<std::ptrdiff_t>(offset));
  if (raises) Raise(from, signal);
  Send(from, MessageOf(OneSidedType::kArrived));
  return Ok();
}

Status OneSided::HandleSignal(Rank from, Reader& in) {
  Signal signal;
  signal.context = in.U32();
  signal.number = in.U32();
  if (!in.AtEnd() || !signal.Exists())
    return Error{Code::kProtocol, "a signal that does not exist"};
  Raise(from, signal);
  Send(from, MessageOf(OneSidedType::kArrived));
  return Ok();
}

Status OneSided::HandleArrived(Rank from) {
  PutCount& traffic = traffic_[from];
  if (traffic.arrived == traffic.sent)
    return Error{Code::kProtocol, "an acknowledgement without a message"};
  ++traffic.arrived;
  return Ok();
}

// ---- puts ---------------------------------------------------------------------------------------

/// Puts, in sequence. Several pieces to each peer may be in flight.
class PutRun final : public collective::Operation {
 public:
  PutRun(OneSided& one_sided, std::vector<Put> puts)
      : one_sided_(one_sided), puts_(std::move(puts)) {}

  Result<bool> Advance() override {
    if (error_) return *error_;
    const auto done = Step();
    if (!done.ok()) error_ = done.error();
    return done;
  }
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override {
    const auto peer = Awaits();
    return fmt::format("rank {} waits for {} to receive a put into its window",
                       Index(one_sided_.self()),
                       peer ? fmt::format("rank {}", Index(*peer)) : "no rank");
  }
  std::optional<Rank> Awaits() const override {
    const std::lock_guard lock(one_sided_.mutex_);
    if (at_ < puts_.size() && puts_[at_].peer != one_sided_.self()) return puts_[at_].peer;
    for (const Rank peer : peers_)
      if (BytesInFlight(peer) > 0) return peer;
    return std::nullopt;
  }

 private:
  std::uint64_t BytesInFlight(Rank peer) const {
    const OneSided::PutCount& traffic = one_sided_.traffic_[peer];
    return traffic.sent - traffic.arrived;
  }

  Status Refusal(Rank peer) const {
    const std::optional<Error>& refused = one_sided_.traffic_[peer].refused;
    return refused ? Status(*refused) : Ok();
  }

  Result<bool> Step() {
    moved_ = false;
    while (at_ < puts_.size()) {
      RINGLET_TRY_ASSIGN(const bool sent, Push(puts_[at_]));
      if (!sent) return false;
      moved_ = true;
      ++at_;
      sent_bytes_ = 0;
    }
    const std::lock_guard lock(one_sided_.mutex_);
    for (const Rank peer : peers_) {
      RINGLET_TRY(Refusal(peer));
      if (BytesInFlight(peer) > 0) return false;
    }
    return true;
  }

  // Returns true if all of it is in flight.
  Result<bool> Push(const Put& put) {
    if (put.peer == one_sided_.self()) return PushToSelf(put);
    std::optional<OneSided::PeerWindow> window;
    {
      const std::lock_guard lock(one_sided_.mutex_);
      peers_.insert(put.peer);
      RINGLET_TRY(Refusal(put.peer));
      if (!put.from.empty()) {
        const auto [it, asks] = one_sided_.known_.try_emplace({put.peer, put.window});
        if (asks) Ask(put);
        if (!it->second) return false;
        window = *it->second;
      }
    }
    if (!window) return Send(put, Signalled(put));
    if (put.offset > window->bytes || put.from.size() > window->bytes - put.offset)
      return Error{
          Code::kInvalidArgument,
          fmt::format("{} bytes at {} lie beyond rank {}'s part of the window, which has {}",
                      put.from.size(), put.offset, Index(put.peer), window->bytes)};
    transport::BufferPlace place = window->place;
    place.offset += put.offset;
    std::byte* const there = one_sided_.Reach(put.peer, place, put.from.size());
    return there ? Copy(put, there) : PushPieces(put);
  }

  Result<bool> PushToSelf(const Put& put) {
    if (!put.from.empty()) {
      RINGLET_TRY_ASSIGN(const OneSided::Window window, one_sided_.Find(put.window));
      const std::span<std::byte> memory = window.memory;
      if (put.offset > memory.size() || put.from.size() > memory.size() - put.offset)
        return Error{Code::kInvalidArgument,
                     fmt::format("{} bytes at {} lie beyond this rank's part of the window, which "
                                 "has {}",
                                 put.from.size(), put.offset, memory.size())};
      std::memmove(memory.data() + put.offset, put.from.data(), put.from.size());
    }
    const std::lock_guard lock(one_sided_.mutex_);
    one_sided_.Raise(put.peer, put.signal);
    return true;
  }

  void Ask(const Put& put) {
    Writer asked;
    asked.U32(put.window);
    one_sided_.Send(put.peer, MessageOf(OneSidedType::kAsk, asked));
  }

  static Bytes Signalled(const Put& put) {
    Writer signalled;
    signalled.U32(put.signal.context).U32(put.signal.number);
    return MessageOf(OneSidedType::kSignal, signalled);
  }

  // Returns false if the peer has enough messages to process.
  bool Send(const Put& put, Bytes message) {
    const std::lock_guard lock(one_sided_.mutex_);
    if (BytesInFlight(put.peer) >= kPiecesMax) return false;
    ++one_sided_.traffic_[put.peer].sent;
    one_sided_.Send(put.peer, std::move(message));
    return true;
  }

  bool Copy(const Put& put, std::byte* there) {
    if (sent_bytes_ < put.from.size()) {
      const View piece =
          put.from.subspan(sent_bytes_, std::min(kCopyBytes, put.from.size() - sent_bytes_));
      transport::Copy(piece, there + sent_bytes_);
      sent_bytes_ += piece.size();
      moved_ = true;
    }
    return sent_bytes_ == put.from.size() && Send(put, Signalled(put));
  }

  bool PushPieces(const Put& put) {
    while (sent_bytes_ < put.from.size()) {
      const View piece =
          put.from.subspan(sent_bytes_, std::min(kPieceBytes, put.from.size() - sent_bytes_));
      const bool last = sent_bytes_ + piece.size() == put.from.size();
      Writer out;
      out.U32(put.window).U64(put.offset + sent_bytes_).U8(last ? 1 : 0);
      out.U32(put.signal.context).U32(put.signal.number).Raw(piece);
      if (!Send(put, MessageOf(OneSidedType::kPut, out))) return false;
      sent_bytes_ += piece.size();
      moved_ = true;
    }
    return true;
  }

  OneSided& one_sided_;
  std::vector<Put> puts_;
  std::size_t at_ = 0;          // the current put
  std::size_t sent_bytes_ = 0;  // of the current put
  std::set<Rank> peers_;        // ranks that have messages to confirm
  std::optional<Error> error_;
  bool moved_ = false;
};

std::unique_ptr<collective::Operation> OneSided::Run(std::vector<Put> puts) {
  return std::make_unique<PutRun>(*this, std::move(puts));
}

// ---- signals ------------------------------------------------------------------------------------

class SignalRun final : public collective::Operation {
 public:
  SignalRun(OneSided& one_sided, const std::vector<SignalWait>& waits) : one_sided_(one_sided) {
    for (const SignalWait& wait : waits)
      for (const SignalCount& count : wait.counts)
        wanted_[{count.peer, count.signal.context, count.signal.number}] += count.times;
  }

  Result<bool> Advance() override {
    const std::lock_guard lock(one_sided_.mutex_);
    moved_ = false;
    if (done_) return true;
    for (const auto& [key, times] : wanted_)
      if (Raised(key) < times) return false;
    for (const auto& [key, times] : wanted_) one_sided_.raised_[key] -= times;
    moved_ = true;
    return done_ = true;
  }
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override {
    const std::lock_guard lock(one_sided_.mutex_);
    std::string text;
    for (const auto& [key, times] : wanted_) {
      if (Raised(key) >= times) continue;
      const auto& [peer, context, number] = key;
      text += fmt::format("{}signal {} of context {} from rank {} ({} of {} have arrived)",
                          text.empty() ? "" : " and ", number, context, Index(peer), Raised(key),
                          times);
    }
    return fmt::format("rank {} waits for {}", Index(one_sided_.self()), text);
  }
  std::optional<Rank> Awaits() const override {
    const std::lock_guard lock(one_sided_.mutex_);
    for (const auto& [key, times] : wanted_)
      if (Raised(key) < times) return std::get<Rank>(key);
    return std::nullopt;
  }

 private:
  std::uint64_t Raised(const OneSided::SignalKey& key) const {
    const auto it = one_sided_.raised_.find(key);
    return it == one_sided_.raised_.end() ? 0 : it->second;
  }

  OneSided& one_sided_;
  std::map<OneSided::SignalKey, std::uint64_t> wanted_;
  bool moved_ = false;
  bool done_ = false;
};

std::unique_ptr<collective::Operation> OneSided::Run(std::vector<SignalWait> waits) {
  return std::make_unique<SignalRun>(*this, waits);
}

}  // namespace ringlet::comm
