#include "os/net/resolve.hpp"

#include <gtest/gtest.h>

namespace ringlet::os {
namespace {

TEST(Resolve, KeepsNumericAddresses) {
  EXPECT_EQ(*Resolve("10.1.2.3:4711"), Address::Ipv4(10, 1, 2, 3, 4711));
  EXPECT_EQ(ToString(*Resolve("[fd00::1]:80")), "[fd00::1]:80");
  EXPECT_EQ(ToString(*Resolve("[fe80::1%1]:80")), "[fe80::1%1]:80");
}

TEST(Resolve, ResolvesLocalhost) {
  const auto address = Resolve("localhost:7");
  ASSERT_TRUE(address.ok()) << address.error().message;
  EXPECT_TRUE(address->IsLoopback());
  EXPECT_EQ(address->port, 7);
}

TEST(Resolve, QuotesTextWithoutHostAndPort) {
  for (const std::string_view text : {"", "host", "host:", ":", "host:0", "host:65536", "host:-1",
                                      "host:7x", "host: 7", "10.0.0.1"}) {
    const auto address = Resolve(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.error().code, Code::kInvalidArgument);
    EXPECT_EQ(address.error().message,
              "\"" + std::string(text) + "\" is not of the form host:port");
  }
}

TEST(Resolve, QuotesAnUnknownName) {
  // The text is too long for a name, so the resolver does not query a server on the network.
  const std::string text = std::string(400, 'x') + ":7";
  const auto address = Resolve(text);
  ASSERT_FALSE(address.ok());
  EXPECT_EQ(address.error().code, Code::kInvalidArgument);
  EXPECT_NE(address.error().message.find("the host of \"" + text + "\" is not known"),
            std::string::npos)
      << address.error().message;
}

}  // namespace
}  // namespace ringlet::os
