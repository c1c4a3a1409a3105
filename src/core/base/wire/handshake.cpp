#include "base/wire/handshake.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <utility>

namespace ringlet {
namespace {

constexpr std::uint32_t kHelloTag = 0x31484c52;      // "RLH1"
constexpr std::uint32_t kChallengeTag = 0x31434c52;  // "RLC1"
constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kChallengeBytes = 72;
constexpr std::size_t kProofBytes = 32;

constexpr std::uint16_t kEncryptFlag = 1;

enum class Verdict : std::uint8_t {
  kWelcome = 0,
  kOtherVersion = 1,
  kOtherCommunicator = 2,
  kEncryptedOnly = 3,  // the dialler does not encrypt, and this side does
  kPlainOnly = 4,
};

constexpr std::string_view kAcceptorLabel = "ringlet acceptor proof 1";
constexpr std::string_view kDiallerLabel = "ringlet dialler proof 1";
constexpr std::string_view kAcceptorKeyLabel = "ringlet acceptor key 1";
constexpr std::string_view kDiallerKeyLabel = "ringlet dialler key 1";

bool SameInConstantTime(View a, View b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Secret KeyedHash(const Secret& key, std::initializer_list<View> parts) {
  const auto bytes = [](View v) { return reinterpret_cast<const unsigned char*>(v.data()); };
  crypto_generichash_state state;
  crypto_generichash_init(&state, bytes(key), key.size(), sizeof(Secret));
  for (const View part : parts) crypto_generichash_update(&state, bytes(part), part.size());
  Secret out;
  crypto_generichash_final(&state, reinterpret_cast<unsigned char*>(out.data()), out.size());
  return out;
}

Nonce NonceSource::Next() {
  Writer counter;
  counter.U64(++drawn_);
  return KeyedHash(seed_, {AsView("ringlet nonce 1"), counter.view()});
}

std::optional<HelloText> ReadHello(View hello) {
  if (hello.size() < kHelloBytes) return std::nullopt;
  Reader in(hello.first(kHelloBytes));
  const bool ours = in.U32() == kHelloTag && in.U8() == kVersion;
  HelloText text{.magic = 0, .purpose = in.U8()};
  in.U16();
  text.magic = in.U64();
  return ours ? std::optional(text) : std::nullopt;
}

Handshake Handshake::Dialler(const Credentials& credentials, Purpose purpose, const Nonce& nonce,
                             const LineOptions& options) {
  Handshake handshake(credentials, nonce, options, State::kAwaitChallenge);
  handshake.purpose_ = purpose;
  Writer hello;
  hello.U32(kHelloTag).U8(kVersion).U8(static_cast<std::uint8_t>(purpose));
  hello.U16(options.encrypt ? kEncryptFlag : 0);
  hello.U64(credentials.magic).Raw(nonce);
  handshake.hello_ = hello.Take();
  handshake.output_ = handshake.hello_;
  return handshake;
}

Handshake Handshake::Acceptor(const Credentials& credentials, const Nonce& nonce,
                              const LineOptions& options) {
  return Handshake(credentials, nonce, options, State::kAwaitHello);
}

LineKeys Handshake::Keys() const {
  RINGLET_ASSERT(done());
  return {KeyedHash(credentials_.secret, {AsView(kDiallerKeyLabel), hello_, challenge_}),
          KeyedHash(credentials_.secret, {AsView(kAcceptorKeyLabel), hello_, challenge_})};
}

bool Handshake::Gather(View& in, std::size_t bytes) {
  const std::size_t taken = std::min(in.size(), bytes - gathered_.size());
  gathered_.insert(gathered_.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(taken));
  in = in.subspan(taken);
  return gathered_.size() == bytes;
}

Status Handshake::Push(View& in) {
  switch (state_) {
    case State::kAwaitHello:
      if (!Gather(in, kHelloBytes)) return Ok();
      RINGLET_TRY(OnHello());
      return in.empty() ? Ok() : Push(in);
    case State::kAwaitChallenge: return Gather(in, kChallengeBytes) ? OnChallenge() : Ok();
    case State::kAwaitProof: return Gather(in, kProofBytes) ? OnProof() : Ok();
    case State::kDone: return Ok();
  }
  return Ok();
}

Status Handshake::OnHello() {
  hello_ = std::exchange(gathered_, Bytes());
  Reader in(hello_);
  if (in.U32() != kHelloTag)
    return Error{Code::kProtocol, "a stranger that does not speak Ringlet's protocol"};
  const std::uint8_t version = in.U8();
  const std::uint8_t purpose = in.U8();
  const std::uint16_t flags = in.U16();
  const std::uint64_t magic = in.U64();
  const bool encrypts = (flags & kEncryptFlag) != 0;
  const bool other_version = version != kVersion || (flags & ~kEncryptFlag) != 0;
  const Verdict answer = other_version                  ? Verdict::kOtherVersion
                         : magic != credentials_.magic  ? Verdict::kOtherCommunicator
                         : encrypts == options_.encrypt ? Verdict::kWelcome
                         : options_.encrypt             ? Verdict::kEncryptedOnly
                                                        : Verdict::kPlainOnly;
  purpose_ = static_cast<Purpose>(purpose);
  Writer challenge;
  challenge.U32(kChallengeTag)
      .U8(kVersion)
      .U8(static_cast<std::uint8_t>(answer))
      .U16(0)
      .Raw(nonce_);
  const Secret proof =
      KeyedHash(credentials_.secret, {AsView(kAcceptorLabel), hello_, challenge.view()});
  challenge.Raw(proof);
  challenge_ = challenge.Take();
  output_ = challenge_;
  if (answer == Verdict::kOtherVersion)
    return Error{Code::kProtocol,
                 fmt::format("a peer with version {} of the protocol; this is version {}", version,
                             kVersion)};
  if (answer == Verdict::kOtherCommunicator)
    return Error{Code::kProtocol,
                 fmt::format("a peer that looks for communicator {:016x}; this is {:016x}", magic,
                             credentials_.magic)};
  if (answer == Verdict::kEncryptedOnly)
    return Error{Code::kProtocol,
                 "a peer that does not encrypt, although this side requires it; set "
                 "RINGLET_ENCRYPT alike on all ranks"};
  if (answer == Verdict::kPlainOnly)
    return Error{Code::kProtocol,
                 "a peer that encrypts, although this side does not; set RINGLET_ENCRYPT alike on "
                 "all ranks"};
  if (purpose < 1 || purpose > 7)
    return Error{Code::kProtocol, fmt::format("a peer with unknown purpose {}", purpose)};
  state_ = State::kAwaitProof;
  return Ok();
}

Status Handshake::OnChallenge() {
  challenge_ = std::exchange(gathered_, Bytes());
  Reader in(challenge_);
  if (in.U32() != kChallengeTag)
    return Error{Code::kProtocol,
                 "it does not speak Ringlet's protocol; another program listens there"};
  const std::uint8_t version = in.U8();
  const auto answer = static_cast<Verdict>(in.U8());
  if (version != kVersion || answer == Verdict::kOtherVersion)
    return Error{Code::kProtocol,
                 fmt::format("it speaks version {} of the protocol, this is version {}; use "
                             "the same Ringlet on all ranks",
                             version, kVersion)};
  if (answer == Verdict::kOtherCommunicator)
    return Error{Code::kProtocol,
                 "it serves another communicator; this unique id is stale, make a new one"};
  const View challenge(challenge_);
  const Secret expected =
      KeyedHash(credentials_.secret,
                {AsView(kAcceptorLabel), hello_, challenge.first(kChallengeBytes - kProofBytes)});
  if (!SameInConstantTime(expected, challenge.last(kProofBytes)))
    return Error{Code::kProtocol,
                 "the secrets differ; the unique id is not the one that was created there "
                 "(with NCCL_COMM_ID: RINGLET_SECRET differs)"};
  if (answer == Verdict::kEncryptedOnly)
    return Error{
        Code::kProtocol,
        "it requires encryption, and this side does not encrypt; set RINGLET_ENCRYPT alike "
        "on all ranks"};
  if (answer != Verdict::kWelcome)
    return Error{Code::kProtocol,
                 "it does not encrypt, and this side requires it; set RINGLET_ENCRYPT alike on all "
                 "ranks"};
  const Secret proof = KeyedHash(credentials_.secret, {AsView(kDiallerLabel), hello_, challenge_});
  output_.assign(proof.begin(), proof.end());
  state_ = State::kDone;
  return Ok();
}

Status Handshake::OnProof() {
  const Secret expected =
      KeyedHash(credentials_.secret, {AsView(kDiallerLabel), hello_, challenge_});
  if (!SameInConstantTime(expected, gathered_))
    return Error{Code::kProtocol, "a peer that does not know this communicator's secret"};
  gathered_.clear();
  state_ = State::kDone;
  return Ok();
}

}  // namespace ringlet
