// Sealed records: how the bytes of an encrypted line travel. Layout: docs/reference/wire.md.
//
// Each direction of a line has a key of its own and numbers its records from 0; the number is the
// cipher's nonce and is not sent. So a record fits in one place of one direction of one line only:
// one that was changed, repeated, left out, moved, sent back or taken from elsewhere does not open.
// The cipher is ChaCha20-Poly1305 (RFC 8439), by libsodium.
#pragma once
#include "base/wire/handshake.hpp"

namespace ringlet {

/// The largest payload of a record. Bounds what a reader holds of a record that it cannot check
/// yet.
inline constexpr std::size_t kRecordBytesMax = 64 * 1024;
/// The overhead of a record: its length and its tag.
inline constexpr std::size_t kRecordOverheadBytes = 4 + 16;

class RecordSealer {
 public:
  /// \param key  of this direction of this line, and never used anywhere else
  explicit RecordSealer(const Secret& key) : key_(key) {}
  /// `plain` as records: one, or several where it is longer than kRecordBytesMax; none of nothing.
  Bytes Seal(View plain);

 private:
  Secret key_;
  std::uint64_t sealed_ = 0;
};

class RecordOpener {
 public:
  explicit RecordOpener(const Secret& key) : key_(key) {}

  /// The contents of all records that are whole by now; what is left over is kept.
  /// Errors  kProtocol  a record that does not open. From then on nothing does.
  Result<Bytes> Push(View data);

  std::size_t buffered_bytes() const { return partial_.size(); }

 private:
  Status Open(View record, Bytes& plain);

  Secret key_;
  std::uint64_t opened_ = 0;
  Bytes partial_;
  bool broken_ = false;
};

}  // namespace ringlet
