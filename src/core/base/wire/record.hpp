// Sealed records: the format of bytes on an encrypted connection. Layout: docs/reference/wire.md.
//
// Each direction of a connection has its own key and numbers its records from 0. The number is the
// cipher's nonce and is not sent. So a record fits only one position of one direction of one
// connection: a record that was changed, repeated, left out, moved, sent back or taken from another
// connection does not open. The cipher is ChaCha20-Poly1305 (RFC 8439), by libsodium.
#pragma once
#include "base/wire/handshake.hpp"

namespace ringlet {

/// The largest payload of a record. Bounds the bytes that a reader holds before it can check them.
inline constexpr std::size_t kRecordBytesMax = 64 * 1024;
/// The overhead of a record: its length and its tag.
inline constexpr std::size_t kRecordOverheadBytes = 4 + 16;

class RecordSealer {
 public:
  /// \param key  of this direction of this connection, and never used elsewhere
  explicit RecordSealer(const Secret& key) : key_(key) {}
  /// `plain` as records: several if it is longer than kRecordBytesMax, none if it is empty.
  Bytes Seal(View plain);

 private:
  Secret key_;
  std::uint64_t sealed_ = 0;
};

class RecordOpener {
 public:
  explicit RecordOpener(const Secret& key) : key_(key) {}

  /// The contents of all complete records. Keeps an incomplete one.
  /// Errors  kProtocol  a record does not open. Every later call fails too.
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
