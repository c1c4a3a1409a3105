#include "bootstrap/difference.hpp"

#include <algorithm>

namespace ringlet::bootstrap {
namespace {

constexpr std::size_t kRunMax = 255;
// A run costs two bytes, so a gap of fewer equal bytes is cheaper to copy.
constexpr std::size_t kGapMin = 3;

bool Same(View base, View bytes, std::size_t at) {
  return at < base.size() && base[at] == bytes[at];
}

std::size_t CommonPrefix(View base, View bytes, std::size_t at, std::size_t most) {
  std::size_t count = 0;
  while (count < most && at + count < bytes.size() && Same(base, bytes, at + count)) ++count;
  return count;
}

// Returns the end of the run of differing bytes that starts at `at`.
std::size_t EndOfRun(View base, View bytes, std::size_t at) {
  std::size_t end = at;
  while (end < bytes.size() && end - at < kRunMax &&
         CommonPrefix(base, bytes, end, kGapMin) < std::min(kGapMin, bytes.size() - end))
    ++end;
  return end;
}

}  // namespace

Bytes DifferenceOf(View base, View bytes) {
  RINGLET_ASSERT(bytes.size() <= 0xffff);
  Writer out;
  out.U16(static_cast<std::uint16_t>(bytes.size()));
  std::size_t end_of_all = bytes.size();
  while (end_of_all > 0 && Same(base, bytes, end_of_all - 1)) --end_of_all;
  for (std::size_t at = 0; at < end_of_all;) {
    const std::size_t stay = CommonPrefix(base, bytes, at, kRunMax);
    const std::size_t end = EndOfRun(base, bytes, at + stay);
    out.U8(static_cast<std::uint8_t>(stay)).U8(static_cast<std::uint8_t>(end - at - stay));
    out.Raw(bytes.subspan(at + stay, end - at - stay));
    at = end;
  }
  return out.Take();
}

Result<Bytes> ApplyDifference(View base, View difference, std::size_t bytes_max) {
  Reader in(difference);
  const std::size_t size = in.U16();
  if (!in.ok() || size > bytes_max) return Error{Code::kProtocol, "a record that is too long"};
  Bytes bytes(base.begin(),
              base.begin() + static_cast<std::ptrdiff_t>(std::min(size, base.size())));
  bytes.resize(size);
  for (std::size_t at = 0; in.remaining() > 0;) {
    at += in.U8();
    const View run = in.Raw(in.U8());
    if (!in.ok() || at > size || run.size() > size - at)
      return Error{Code::kProtocol, "a record with invalid differences"};
    std::ranges::copy(run, bytes.begin() + static_cast<std::ptrdiff_t>(at));
    at += run.size();
  }
  return bytes;
}

}  // namespace ringlet::bootstrap
