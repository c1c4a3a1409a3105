// StripedLink: a Link over several TCP connections, for hosts with several NICs and for networks
// that limit the bandwidth of one connection.
//
// The link distributes the stream of bytes in stripes of a fixed size, in turn: byte i travels over
// connection (i / stripe) mod their number. So the peers need not exchange positions. The kernel
// buffers the bytes of one connection while the others catch up, which keeps all of them busy. With
// NICs of very different speeds, the link is as fast as the slowest NIC times their number.
#pragma once
#include <memory>
#include <vector>

#include "transport/link/link.hpp"

namespace ringlet::transport {

inline constexpr std::size_t kStripeBytes = 256 * 1024;
inline constexpr std::uint32_t kStrandsMax = 16;

class StripedLink final : public Link {
 public:
  /// \param strands  links to one peer, in an order that both ends know; two or more
  StripedLink(std::vector<std::unique_ptr<Link>> strands, std::size_t stripe_bytes = kStripeBytes);

  Result<std::size_t> Write(View data) override;
  Result<std::size_t> Read(std::span<std::byte> out) override;
  Result<View> Peek() override;
  void Consume(std::size_t bytes) override;
  Rank peer() const override { return strands_.front()->peer(); }
  std::string_view kind() const override { return strands_.front()->kind(); }

 private:
  /// The position in the stream, for one direction.
  struct StripePosition {
    std::size_t strand = 0;
    std::size_t left = 0;  // bytes left in its stripe
  };
  void Advance(StripePosition& place, std::size_t bytes) const;

  std::vector<std::unique_ptr<Link>> strands_;
  std::size_t stripe_bytes_;
  StripePosition written_, read_;
};

}  // namespace ringlet::transport
