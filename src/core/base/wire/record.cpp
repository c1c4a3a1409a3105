#include "base/wire/record.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>

namespace ringlet {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kTagBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
static_assert(kLengthBytes + kTagBytes == kRecordOverheadBytes);
static_assert(sizeof(Secret) == crypto_aead_chacha20poly1305_ietf_KEYBYTES);

using CipherNonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

CipherNonce NumberedNonce(std::uint64_t number) {
  CipherNonce nonce{};  // four zeros, then the number
  for (std::size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<unsigned char>(number >> (8 * i));
  return nonce;
}

const unsigned char* Raw(View bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* Raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

Error Broken() {
  return {Code::kProtocol, "a record that was changed on its way or replayed"};
}

}  // namespace

Bytes RecordSealer::Seal(View plain) {
  const std::size_t records = (plain.size() + kRecordBytesMax - 1) / kRecordBytesMax;
  Bytes out(plain.size() + records * kRecordOverheadBytes);
  std::byte* at = out.data();
  while (!plain.empty()) {
    const View part = plain.first(std::min(plain.size(), kRecordBytesMax));
    plain = plain.subspan(part.size());
    Writer length;
    length.U32(static_cast<std::uint32_t>(part.size()));
    std::ranges::copy(length.view(), at);
    const CipherNonce nonce = NumberedNonce(sealed_++);
    crypto_aead_chacha20poly1305_ietf_encrypt(Raw(at + kLengthBytes), nullptr, Raw(part),
                                              part.size(), Raw(length.view()), kLengthBytes,
                                              nullptr, nonce.data(), Raw(View(key_)));
    at += part.size() + kRecordOverheadBytes;
  }
  return out;
}

Result<Bytes> RecordOpener::Push(View data) {
  if (broken_) return Broken();
  partial_.insert(partial_.end(), data.begin(), data.end());
  View rest(partial_);
  Bytes plain;
  while (rest.size() >= kLengthBytes) {
    const std::size_t length = Reader(rest).U32();
    broken_ = length == 0 || length > kRecordBytesMax;
    if (broken_) return Broken();
    const std::size_t whole = length + kRecordOverheadBytes;
    if (rest.size() < whole) break;
    RINGLET_TRY(Open(rest.first(whole), plain));
    rest = rest.subspan(whole);
  }
  partial_.erase(partial_.begin(), partial_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  return plain;
}

Status RecordOpener::Open(View record, Bytes& plain) {
  const std::size_t before = plain.size();
  plain.resize(before + record.size() - kRecordOverheadBytes);
  const CipherNonce nonce = NumberedNonce(opened_++);
  const View sealed = record.subspan(kLengthBytes);
  const int opened = crypto_aead_chacha20poly1305_ietf_decrypt(
      Raw(plain.data() + before), nullptr, nullptr, Raw(sealed), sealed.size(), Raw(record),
      kLengthBytes, nonce.data(), Raw(View(key_)));
  broken_ = opened != 0;
  return broken_ ? Status(Broken()) : Ok();
}

}  // namespace ringlet
