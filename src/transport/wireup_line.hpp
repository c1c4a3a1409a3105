// One line of a Wireup: the handshake, then one frame each way, then bytes that are no longer
// ours.
#pragma once
#include <optional>
#include <string>
#include <variant>

#include "base/wire/handshake.hpp"
#include "base/wire/machine.hpp"
#include "ringlet/types.hpp"

namespace ringlet::transport {

/// Who speaks to whom, and what it offers.
struct WireupHello {
  Rank from{}, to{};
  std::uint8_t descriptors = 0;  ///< how many travel with it
  Bytes offer;
  std::uint8_t strand = 0;  ///< which of several lines between the two
};

/// The answer to a caller that is not wanted.
struct Refusal {
  std::string why;
};

using Heard = std::variant<WireupHello, Refusal>;

inline constexpr std::size_t kOfferBytesMax = 4096;
inline constexpr std::size_t kDescriptorsPerOfferMax = 8;

Bytes Encode(const WireupHello& hello);
Bytes Encode(const Refusal& refusal);

class WireupLine {
 public:
  explicit WireupLine(Handshake handshake) : handshake_(std::move(handshake)) {}

  /// Errors  kProtocol  hang up after sending TakeReply()
  Status Push(const Received& received);
  /// Handshake bytes to send, often empty.
  Bytes TakeReply();
  /// True once, when the handshake has just succeeded.
  bool JustOpened();
  Purpose purpose() const { return handshake_.purpose(); }
  bool silent() const { return silent_; }      ///< not a byte has come
  bool answered() const { return answered_; }  ///< TakeReply has given something

  /// What the other side says, when it has arrived whole.
  /// Errors  kProtocol  it does not parse, or its descriptors are not all there
  Result<std::optional<Heard>> Next();

  /// What came after it. Take once, last.
  Bytes TakeUnread() { return std::move(unread_); }
  Descriptors TakeDescriptors() { return std::move(descriptors_); }

 private:
  Handshake handshake_;
  Bytes unread_;
  Descriptors descriptors_;
  bool announced_ = false;
  bool silent_ = true;
  bool answered_ = false;
};

}  // namespace ringlet::transport
