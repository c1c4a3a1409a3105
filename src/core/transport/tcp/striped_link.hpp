// A Link over several TCP connections, for hosts with several NICs and for networks that give one
// connection less than all.
//
// The stream of bytes is dealt out in stripes of a fixed size, in turn, so that nothing has to be
// said about what lies where: byte i goes over connection (i / stripe) mod their number. The bytes
// of one connection that the kernel holds while the others catch up keep all of them busy, so that
// NICs of very different speed go as fast as the slowest times their number.
#pragma once
#include <memory>
#include <vector>

#include "transport/link/link.hpp"

namespace ringlet::transport {

inline constexpr std::size_t kStripeBytes = 256 * 1024;
inline constexpr std::uint32_t kStrandsMax = 16;

class StripedLink final : public Link {
 public:
  /// \param strands  links to one peer, in the order that both ends know; two or more
  StripedLink(std::vector<std::unique_ptr<Link>> strands, std::size_t stripe_bytes = kStripeBytes);

  Result<std::size_t> Write(View data) override;
  Result<std::size_t> Read(std::span<std::byte> out) override;
  Result<View> Peek() override;
  void Consume(std::size_t bytes) override;
  Rank peer() const override { return strands_.front()->peer(); }
  std::string_view kind() const override { return strands_.front()->kind(); }

 private:
  /// The position of one direction in the stream.
  struct Place {
    std::size_t strand = 0;
    std::size_t left = 0;  // of its stripe
  };
  void Advance(Place& place, std::size_t bytes) const;

  std::vector<std::unique_ptr<Link>> strands_;
  std::size_t stripe_bytes_;
  Place written_, read_;
};

}  // namespace ringlet::transport
