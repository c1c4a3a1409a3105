#include "bootstrap/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "bootstrap/root_job.hpp"

namespace ringlet::bootstrap {
namespace {

Writer Begin(FrameType type) {
  return BeginFrame(static_cast<std::uint8_t>(type));
}

Error Malformed(const char* what) {
  return Error{Code::kProtocol, fmt::format("a malformed {} frame", what)};
}

// Encodes all of a check-in except the member address.
void EncodeTerms(Writer& out, const CheckIn& check_in) {
  out.U32(check_in.rank).U32(check_in.size).U8(static_cast<std::uint8_t>(check_in.shape));
  out.U16(check_in.arity).U32(check_in.timeout_ms);
  out.U32(check_in.root.index).U32(check_in.root.count);
}

CheckIn DecodeTerms(Reader& in) {
  CheckIn check_in;
  check_in.rank = in.U32();
  check_in.size = in.U32();
  const std::uint8_t shape = in.U8();
  if (shape > 1) in.Fail();
  check_in.shape = static_cast<Shape>(shape & 1);
  check_in.arity = in.U16();
  check_in.timeout_ms = in.U32();
  check_in.root.index = in.U32();
  check_in.root.count = in.U32();
  return check_in;
}

SlowSend ReadSlowSend(Reader& in) {
  SlowSend send{.peer = in.U32(), .bytes = in.U64(), .bytes_per_second = in.U64()};
  constexpr std::uint64_t kQuietMax = std::uint64_t{1} << 61;  // 73 years, nanoseconds
  send.quiet = Instant(static_cast<std::int64_t>(std::min(in.U64(), kQuietMax)));
  return send;
}

}  // namespace

Bytes ToFrame(const CheckIn& check_in) {
  Writer out = Begin(FrameType::kCheckIn);
  EncodeTerms(out, check_in);
  Encode(out, check_in.member_address);
  return EndFrame(std::move(out));
}

Bytes ToFrame(const LocalRankCheckIn& local_rank) {
  Writer out = Begin(FrameType::kLocalRank);
  EncodeTerms(out, local_rank.check_in);
  out.Raw(local_rank.difference);
  return EndFrame(std::move(out));
}

Bytes ToFrame(const Identify& identify) {
  Writer out = Begin(FrameType::kIdentify);
  out.U32(identify.rank).U32(identify.subtree.first).U32(identify.subtree.count);
  return EndFrame(std::move(out));
}

Result<Identify> ParseIdentify(View payload) {
  Reader in(payload);
  Identify identify;
  identify.rank = in.U32();
  identify.subtree.first = in.U32();
  identify.subtree.count = in.U32();
  if (!in.AtEnd()) return Malformed("identify");
  return identify;
}

Bytes ToFrame(const Welcome& welcome) {
  Writer out = Begin(FrameType::kWelcome);
  out.Text(welcome.host).U32(welcome.pid).U8(welcome.hosted_rank ? 1 : 0);
  out.U32(welcome.hosted_rank.value_or(0));
  return EndFrame(std::move(out));
}

void Encode(Writer& out, const Failure& failure) {
  out.U8(static_cast<std::uint8_t>(failure.code)).U32(failure.origin);
  out.Text(std::string_view(failure.text).substr(0, kFailureTextBytesMax));
}

Bytes ToFrame(FrameType type, const Failure& failure) {
  Writer out = Begin(type);
  Encode(out, failure);
  return EndFrame(std::move(out));
}

Bytes ToFrame(FrameType type) {
  return EndFrame(Begin(type));
}

Result<CheckIn> ParseCheckIn(View payload) {
  Reader in(payload);
  CheckIn check_in = DecodeTerms(in);
  check_in.member_address = DecodeMemberAddress(in);
  if (!in.AtEnd()) return Malformed("check-in");
  return check_in;
}

Result<LocalRankCheckIn> ParseLocalRank(View payload) {
  Reader in(payload);
  LocalRankCheckIn local_rank{.check_in = DecodeTerms(in), .difference = {}};
  const View difference = in.Raw(in.remaining());
  if (!in.ok()) return Malformed("local rank");
  local_rank.difference.assign(difference.begin(), difference.end());
  return local_rank;
}

Result<Welcome> ParseWelcome(View payload) {
  Reader in(payload);
  Welcome welcome;
  welcome.host = in.Text(kHostBytesMax);
  welcome.pid = in.U32();
  const bool hosts = in.U8() != 0;
  const std::uint32_t rank = in.U32();
  if (hosts) welcome.hosted_rank = rank;
  if (!in.AtEnd()) return Malformed("welcome");
  return welcome;
}

Result<Failure> ParseFailure(View payload) {
  Reader in(payload);
  Failure failure;
  const std::uint8_t code = in.U8();
  failure.origin = in.U32();
  failure.text = in.Text(kFailureTextBytesMax);
  if (!in.AtEnd() || code > static_cast<std::uint8_t>(Code::kAborted)) return Malformed("failure");
  failure.code = static_cast<Code>(code);
  return failure;
}

Result<Failure> ParseFailure(View payload, std::uint32_t self, std::uint32_t size) {
  RINGLET_TRY_ASSIGN(Failure failure, ParseFailure(payload));
  if (failure.origin >= size) failure.origin = kNoOrigin;
  if (failure.code == Code::kPeerLost && failure.origin == self)
    failure.text = fmt::format(
        "rank {} is alive, but a connection to it was cut: {}; look for a firewall or a proxy "
        "between",
        self, failure.text);
  return failure;
}

namespace {

/// Encodes the part that an Activity and a GroupActivity share.
void EncodeCalls(Writer& out, const auto& activity) {
  out.U64(activity.operations).U8(activity.waits_for ? 1 : 0).U32(activity.waits_for.value_or(0));
  out.Blob(View(activity.call).first(std::min(activity.call.size(), kActivityCallBytesMax)));
  const std::size_t counts = std::min(activity.counts.size(), kActivityCountsMax);
  out.U8(static_cast<std::uint8_t>(counts));
  for (std::size_t kind = 0; kind < counts; ++kind) out.U64(activity.counts[kind]);
}

/// Returns true if the part is valid so far.
bool ReadCalls(Reader& in, auto& activity) {
  activity.operations = in.U64();
  const bool waits = in.U8() != 0;
  const std::uint32_t rank = in.U32();
  if (waits) activity.waits_for = rank;
  const View call = in.Blob(kActivityCallBytesMax);
  activity.call.assign(call.begin(), call.end());
  const std::size_t counts = in.U8();
  if (counts > kActivityCountsMax) return false;
  for (std::size_t kind = 0; kind < counts; ++kind) activity.counts.push_back(in.U64());
  return in.ok();
}

void EncodeOthers(Writer& out, const std::vector<GroupActivity>& others) {
  const std::size_t told = others.size() <= kActivityOthersMax ? others.size() : 0;
  out.U8(static_cast<std::uint8_t>(told));
  for (const GroupActivity& one : std::span(others).first(told)) {
    out.U64(one.communicator).U32(one.rank).U32(one.ranks);
    EncodeCalls(out, one);
  }
}

bool ReadOthers(Reader& in, std::vector<GroupActivity>& others) {
  const std::size_t told = in.U8();
  for (std::size_t i = 0; i < told; ++i) {
    GroupActivity one{.communicator = in.U64(), .rank = in.U32(), .ranks = in.U32()};
    if (!ReadCalls(in, one) || one.rank >= one.ranks || one.ranks > kSizeMax) return false;
    others.push_back(std::move(one));
  }
  return true;
}

}  // namespace

void Encode(Writer& out, const Activity& activity) {
  EncodeCalls(out, activity);
  const std::size_t slow = std::min(activity.slow_sends.size(), kActivitySlowSendsMax);
  out.U8(static_cast<std::uint8_t>(slow));
  for (const SlowSend& send : std::span(activity.slow_sends).first(slow))
    out.U32(send.peer)
        .U64(send.bytes)
        .U64(send.bytes_per_second)
        .U64(static_cast<std::uint64_t>(send.quiet.count()));
  EncodeOthers(out, activity.others);
}

Result<Activity> ParseActivity(View payload) {
  Reader in(payload);
  Activity activity;
  if (!ReadCalls(in, activity)) return Malformed("answer");
  const std::size_t slow = in.U8();
  if (slow > kActivitySlowSendsMax) return Malformed("answer");
  for (std::size_t i = 0; i < slow; ++i) activity.slow_sends.push_back(ReadSlowSend(in));
  if (!ReadOthers(in, activity.others) || !in.AtEnd()) return Malformed("answer");
  return activity;
}

std::vector<Slice> PiecesOf(const Slice& roster) {
  const Slice whole = roster.Owned();
  const std::size_t bytes = std::clamp(whole.bytes.size() / 32, kPieceBytesMin, kPieceBytesMost);
  std::vector<Slice> pieces;
  for (std::size_t at = 0; at < whole.bytes.size(); at += bytes)
    pieces.emplace_back(whole.bytes.subspan(at, std::min(bytes, whole.bytes.size() - at)),
                        whole.owner);
  return pieces;
}

PlaceRange RanksOfRoot(RootShare share, std::uint32_t size) {
  const std::uint32_t each = size / share.count, more = size % share.count;
  return {share.index * each + std::min(share.index, more), each + (share.index < more ? 1 : 0)};
}

std::uint32_t RootOfRank(std::uint32_t rank, std::uint32_t size, std::uint32_t count) {
  const std::uint32_t each = size / count, more = size % count;
  const std::uint32_t large = more * (each + 1);
  return rank < large ? rank / (each + 1) : more + (rank - large) / each;
}

std::string RangesText(const std::vector<std::uint32_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i       ? fmt::format("{}", ascending[i])
            : last == i + 1 ? fmt::format("{},{}", ascending[i], ascending[last])
                            : fmt::format("{}-{}", ascending[i], ascending[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace ringlet::bootstrap
