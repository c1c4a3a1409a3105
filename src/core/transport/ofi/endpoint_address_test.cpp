#include "transport/ofi/endpoint_address.hpp"

#include <gtest/gtest.h>

#include "transport/wireup/wireup_hello.hpp"

namespace ringlet::transport::ofi {
namespace {

EndpointAddress Example() {
  return {.provider = "tcp;ofi_rxm",
          .name = Bytes(16, std::byte{7}),
          .tag = 0x1234567890abcdee,
          .buffers = 16,
          .buffer_bytes = 16384};
}

TEST(EndpointAddressTest, RoundTrips) {
  EXPECT_EQ(DecodeEndpointAddress(Encode(Example())).value(), Example());
}

TEST(EndpointAddressTest, TheLongestAddressFitsAWireupOffer) {
  EndpointAddress address = Example();
  address.provider = std::string(kProviderBytesMax, 'p');
  address.name = Bytes(kNameBytesMax);
  EXPECT_LE(Encode(address).size(), kOfferBytesMax);
  EXPECT_TRUE(DecodeEndpointAddress(Encode(address)).ok());
}

TEST(EndpointAddressTest, AnAddressOutOfBoundsIsRefused) {
  const auto refused = [](auto change) {
    EndpointAddress address = Example();
    change(address);
    const auto decoded = DecodeEndpointAddress(Encode(address));
    return !decoded.ok() && decoded.error().code == Code::kProtocol;
  };
  EXPECT_TRUE(
      refused([](EndpointAddress& o) { o.provider = std::string(kProviderBytesMax + 1, 'p'); }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.provider.clear(); }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.name = Bytes(kNameBytesMax + 1); }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.name.clear(); }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.tag |= 1; }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.buffers = 0; }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.buffers = kBuffersMax + 1; }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.buffer_bytes = kBufferBytesMin - 1; }));
  EXPECT_TRUE(refused([](EndpointAddress& o) { o.buffer_bytes = kBufferBytesMax + 1; }));
}

TEST(EndpointAddressTest, RefusesTruncationAndExcessBytes) {
  Bytes bytes = Encode(Example());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_FALSE(DecodeEndpointAddress(View(bytes).first(i)).ok());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DecodeEndpointAddress(bytes).ok());
}

}  // namespace
}  // namespace ringlet::transport::ofi
