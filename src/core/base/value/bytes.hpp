// Bytes on the wire: little-endian, bounded, never a raw struct.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet {

using Bytes = std::vector<std::byte>;
using View = std::span<const std::byte>;

/// An immutable shared buffer: the roster is forwarded and kept without a copy.
using SharedBytes = std::shared_ptr<const Bytes>;
inline SharedBytes Share(Bytes bytes) {
  return std::make_shared<const Bytes>(std::move(bytes));
}

/// A piece of a shared buffer. If `owner` is empty, the bytes are valid only during the call.
struct Slice {
  View bytes;
  SharedBytes owner;

  Slice() = default;
  explicit Slice(View borrowed) : bytes(borrowed) {}
  explicit Slice(SharedBytes whole) : bytes(*whole), owner(std::move(whole)) {}
  Slice(View piece, SharedBytes of) : bytes(piece), owner(std::move(of)) {}

  /// Returns the bytes in a slice that owns them. Copies only borrowed bytes.
  Slice Owned() const;
};

inline View AsView(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string_view AsText(View bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Appends little-endian values to a buffer.
class Writer {
 public:
  Writer& U8(std::uint8_t value);
  Writer& U16(std::uint16_t value);
  Writer& U32(std::uint32_t value);
  Writer& U64(std::uint64_t value);
  Writer& Raw(View bytes);
  Writer& Blob(View bytes);             ///< u32 length, then the bytes
  Writer& Text(std::string_view text);  ///< as Blob
  Writer& Pad(std::size_t bytes);       ///< zeros
  void PatchU32(std::size_t offset, std::uint32_t value);
  std::size_t size() const { return out_.size(); }
  View view() const { return out_; }
  Bytes Take() { return std::move(out_); }

 private:
  Bytes out_;
};

/// Reads the output of Writer. Failure is sticky: read everything, then check ok() once. A failed
/// read returns zero or an empty value, so a value read before ok() must not size an allocation.
class Reader {
 public:
  explicit Reader(View in) : in_(in) {}
  std::uint8_t U8();
  std::uint16_t U16();
  std::uint32_t U32();
  std::uint64_t U64();
  View Raw(std::size_t bytes);
  View Blob(std::size_t bytes_max);
  std::string Text(std::size_t bytes_max);
  void Fail() { ok_ = false; }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && in_.empty(); }  ///< all bytes were read, and none is left
  std::size_t remaining() const { return in_.size(); }

 private:
  View in_;
  bool ok_ = true;
};

}  // namespace ringlet
