#include "base/value/bytes.hpp"

namespace ringlet {
namespace {

template <typename T>
void PutLittleEndian(Bytes& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
}

template <typename T>
T GetLittleEndian(View in) {
  if (in.size() != sizeof(T)) return 0;  // the read has failed
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= std::to_integer<std::uint64_t>(in[i]) << (8 * i);
  return static_cast<T>(value);
}

}  // namespace

Slice Slice::Owned() const {
  if (owner || bytes.empty()) return *this;
  return Slice(Share(Bytes(bytes.begin(), bytes.end())));
}

Writer& Writer::U8(std::uint8_t value) {
  PutLittleEndian(out_, value);
  return *this;
}
Writer& Writer::U16(std::uint16_t value) {
  PutLittleEndian(out_, value);
  return *this;
}
Writer& Writer::U32(std::uint32_t value) {
  PutLittleEndian(out_, value);
  return *this;
}
Writer& Writer::U64(std::uint64_t value) {
  PutLittleEndian(out_, value);
  return *this;
}
Writer& Writer::Raw(View bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  return *this;
}
Writer& Writer::Blob(View bytes) {
  return U32(static_cast<std::uint32_t>(bytes.size())).Raw(bytes);
}
Writer& Writer::Text(std::string_view text) {
  return Blob(AsView(text));
}
Writer& Writer::Pad(std::size_t bytes) {
  out_.resize(out_.size() + bytes);
  return *this;
}
void Writer::PatchU32(std::size_t offset, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    out_.at(offset + i) = static_cast<std::byte>(value >> (8 * i));
}

View Reader::Raw(std::size_t bytes) {
  if (!ok_ || bytes > in_.size()) {
    ok_ = false;
    return {};
  }
  const View taken = in_.first(bytes);
  in_ = in_.subspan(bytes);
  return taken;
}
std::uint8_t Reader::U8() {
  return GetLittleEndian<std::uint8_t>(Raw(1));
}
std::uint16_t Reader::U16() {
  return GetLittleEndian<std::uint16_t>(Raw(2));
}
std::uint32_t Reader::U32() {
  return GetLittleEndian<std::uint32_t>(Raw(4));
}
std::uint64_t Reader::U64() {
  return GetLittleEndian<std::uint64_t>(Raw(8));
}
View Reader::Blob(std::size_t bytes_max) {
  const std::size_t bytes = U32();
  if (bytes > bytes_max) ok_ = false;
  return Raw(bytes);
}
std::string Reader::Text(std::size_t bytes_max) {
  return std::string(AsText(Blob(bytes_max)));
}

}  // namespace ringlet
