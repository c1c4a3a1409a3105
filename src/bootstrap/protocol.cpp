#include "bootstrap/protocol.hpp"

#include <fmt/format.h>

namespace ringlet::bootstrap {
namespace {

Writer Begin(FrameType type) {
  return BeginFrame(static_cast<std::uint8_t>(type));
}

Error Malformed(const char* what) {
  return Error{Code::kProtocol, fmt::format("a malformed {} frame", what)};
}

}  // namespace

Bytes ToFrame(const CheckIn& check_in) {
  Writer out = Begin(FrameType::kCheckIn);
  out.U32(check_in.rank).U32(check_in.size).U8(static_cast<std::uint8_t>(check_in.shape));
  out.U16(check_in.arity).U32(check_in.timeout_ms);
  Encode(out, check_in.introduction);
  return EndFrame(std::move(out));
}

Bytes ToFrame(const Welcome& welcome) {
  Writer out = Begin(FrameType::kWelcome);
  out.Text(welcome.host).U32(welcome.pid).U8(welcome.hosted_rank ? 1 : 0);
  out.U32(welcome.hosted_rank.value_or(0));
  return EndFrame(std::move(out));
}

Bytes ToFrame(FrameType type, const Failure& failure) {
  Writer out = Begin(type);
  out.U8(static_cast<std::uint8_t>(failure.code)).U32(failure.origin);
  out.Text(std::string_view(failure.text).substr(0, kFailureTextBytesMax));
  return EndFrame(std::move(out));
}

Bytes ToFrame(FrameType type) {
  return EndFrame(Begin(type));
}

Result<CheckIn> ParseCheckIn(View payload) {
  Reader in(payload);
  CheckIn check_in;
  check_in.rank = in.U32();
  check_in.size = in.U32();
  const std::uint8_t shape = in.U8();
  check_in.arity = in.U16();
  check_in.timeout_ms = in.U32();
  check_in.introduction = DecodeIntroduction(in);
  if (!in.AtEnd() || shape > 1) return Malformed("check-in");
  check_in.shape = static_cast<Shape>(shape);
  return check_in;
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

Bytes ToFrame(const Activity& activity) {
  Writer out = Begin(FrameType::kAnswer);
  out.U64(activity.operations).U8(activity.waits_for ? 1 : 0).U32(activity.waits_for.value_or(0));
  return EndFrame(std::move(out));
}

Result<Activity> ParseActivity(View payload) {
  Reader in(payload);
  Activity activity;
  activity.operations = in.U64();
  const bool waits = in.U8() != 0;
  const std::uint32_t rank = in.U32();
  if (waits) activity.waits_for = rank;
  if (!in.AtEnd()) return Malformed("answer");
  return activity;
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
