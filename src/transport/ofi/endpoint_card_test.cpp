#include "transport/ofi/endpoint_card.hpp"

#include <gtest/gtest.h>

#include "transport/meeting_line.hpp"

namespace ringlet::transport::ofi {
namespace {

EndpointCard Example() {
  return {.provider = "tcp;ofi_rxm",
          .name = Bytes(16, std::byte{7}),
          .tag = 0x1234567890abcdee,
          .buffers = 16,
          .buffer_bytes = 16384};
}

TEST(EndpointCardTest, TravelsWhole) {
  EXPECT_EQ(DecodeEndpointCard(Encode(Example())).value(), Example());
}

TEST(EndpointCardTest, TheLongestFitsAMeeting) {
  EndpointCard card = Example();
  card.provider = std::string(kProviderBytesMax, 'p');
  card.name = Bytes(kNameBytesMax);
  EXPECT_LE(Encode(card).size(), kOfferBytesMax);
  EXPECT_TRUE(DecodeEndpointCard(Encode(card)).ok());
}

TEST(EndpointCardTest, WhatIsOutOfBoundsIsRefused) {
  const auto refused = [](auto change) {
    EndpointCard card = Example();
    change(card);
    const auto decoded = DecodeEndpointCard(Encode(card));
    return !decoded.ok() && decoded.error().code == Code::kProtocol;
  };
  EXPECT_TRUE(
      refused([](EndpointCard& o) { o.provider = std::string(kProviderBytesMax + 1, 'p'); }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.provider.clear(); }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.name = Bytes(kNameBytesMax + 1); }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.name.clear(); }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.tag |= 1; }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.buffers = 0; }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.buffers = kBuffersMax + 1; }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.buffer_bytes = kBufferBytesMin - 1; }));
  EXPECT_TRUE(refused([](EndpointCard& o) { o.buffer_bytes = kBufferBytesMax + 1; }));
}

TEST(EndpointCardTest, NeitherLessNorMore) {
  Bytes bytes = Encode(Example());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_FALSE(DecodeEndpointCard(View(bytes).first(i)).ok());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DecodeEndpointCard(bytes).ok());
}

}  // namespace
}  // namespace ringlet::transport::ofi
