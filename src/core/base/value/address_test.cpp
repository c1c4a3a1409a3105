#include "base/value/address.hpp"

#include <gtest/gtest.h>

#include "base/value/prng.hpp"

namespace ringlet {
namespace {

TEST(Address, TextRoundTrips) {
  for (const std::string_view text :
       {"10.0.0.5:1234", "255.255.255.255:65535", "0.0.0.0:0", "[::]:1", "[::1]:7",
        "[fe80::1%2]:1234", "[1:2:3:4:5:6:7:8]:9", "[2001:db8::a:0:0:1]:80", "[1:0:3::]:5",
        "unix:@", "unix:@ringlet-7"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(ToString(*address), text);
  }
  EXPECT_EQ(ToString(Address()), "(none)");
}

TEST(Address, Ipv6TextIsTheShortForm) {
  // RFC 5952: the first of the longest runs of zeros, never a single one; lower case.
  EXPECT_EQ(ToString(*ParseAddress("[2001:DB8:0:0:1:0:0:1]:80")), "[2001:db8::1:0:0:1]:80");
  EXPECT_EQ(ToString(*ParseAddress("[1:0:3:4:5:6:7:8]:80")), "[1:0:3:4:5:6:7:8]:80");
  EXPECT_EQ(ToString(*ParseAddress("[0:0:3:4:5:0:0:0]:80")), "[0:0:3:4:5::]:80");
}

TEST(Address, AnInvalidAddressIsQuoted) {
  for (const std::string_view text : {"",
                                      ":",
                                      "10.0.0.5",
                                      "10.0.0.5:",
                                      "10.0.0.5:65536",
                                      "10.0.0.5:-1",
                                      "10.0.0.5:1x",
                                      "10.0.0:1",
                                      "10.0.0.256:1",
                                      "10.0.0.0.1:1",
                                      "10..0.1:1",
                                      "node7:1",
                                      "[::1]",
                                      "[::1:1",
                                      "[:::]:1",
                                      "[1:2:3:4:5:6:7]:1",
                                      "[1:2:3:4:5:6:7:8:9]:1",
                                      "[1::2::3]:1",
                                      "[12345::]:1",
                                      "[g::]:1",
                                      "[1:]:1",
                                      "[1:2:3:4:5:6:7:8:]:1",
                                      "[::1:]:1",
                                      "[::1%]:1",
                                      "[::1%x]:1",
                                      "[1:2:3:4::5:6:7:8]:1",
                                      "unix:name"}) {
    const auto address = ParseAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.error().code, Code::kInvalidArgument);
    EXPECT_NE(address.error().message.find("\"" + std::string(text) + "\""), std::string::npos);
  }
  EXPECT_TRUE(ParseAddress("unix:@" + std::string(kUnixPathBytesMax, 'x')).ok());
  EXPECT_FALSE(ParseAddress("unix:@" + std::string(kUnixPathBytesMax + 1, 'x')).ok());
}

TEST(Address, RecognizesLoopbackAddresses) {
  EXPECT_TRUE(ParseAddress("127.3.2.1:1")->IsLoopback());
  EXPECT_TRUE(ParseAddress("[::1]:1")->IsLoopback());
  EXPECT_TRUE(Address::Unix("a").IsLoopback());
  for (const std::string_view text : {"10.0.0.1:1", "[::]:1", "[::2]:1", "[1::1]:1"})
    EXPECT_FALSE(ParseAddress(text)->IsLoopback()) << text;
  EXPECT_FALSE(Address().IsLoopback());
}

TEST(Address, EncodesIntoTheDocumentedBytes) {
  const auto encoded = [](const Address& address) {
    Writer out;
    Encode(out, address);
    return out.Take();
  };
  EXPECT_EQ(encoded(Address()), Bytes({std::byte{0}}));
  EXPECT_EQ(encoded(Address::Ipv4(1, 2, 3, 4, 0x0605)),
            Bytes({std::byte{4}, std::byte{5}, std::byte{6}, std::byte{1}, std::byte{2},
                   std::byte{3}, std::byte{4}}));
  EXPECT_EQ(encoded(*ParseAddress("[fe80::1%2]:1234")).size(), 23u);
  EXPECT_EQ(encoded(Address::Unix("abc")),
            Bytes({std::byte{1}, std::byte{3}, std::byte{'a'}, std::byte{'b'}, std::byte{'c'}}));
}

TEST(Address, EncodingRoundTrips) {
  Writer out;
  const Address addresses[] = {Address(), Address::Ipv4(1, 2, 3, 4, 5),
                               *ParseAddress("[fe80::1%2]:1234"),
                               Address::Unix(std::string(kUnixPathBytesMax, 'x'))};
  for (const Address& address : addresses) Encode(out, address);
  Reader in(out.view());
  for (const Address& address : addresses) EXPECT_EQ(DecodeAddress(in), address);
  EXPECT_TRUE(in.AtEnd());
}

TEST(Address, RefusesUnknownKindsLongPathsAndTruncation) {
  for (const int kind : {2, 3, 5, 7, 255}) {
    Writer out;
    out.U8(static_cast<std::uint8_t>(kind)).Pad(40);
    Reader in(out.view());
    DecodeAddress(in);
    EXPECT_FALSE(in.ok()) << kind;
  }
  Writer long_path;
  long_path.U8(1).U8(kUnixPathBytesMax + 1).Pad(200);
  Reader in(long_path.view());
  EXPECT_EQ(DecodeAddress(in), Address());
  EXPECT_FALSE(in.ok());
  Writer out;
  Encode(out, *ParseAddress("[fe80::1%2]:1234"));
  for (std::size_t cut = 0; cut < out.size(); ++cut) {
    Reader short_in(out.view().first(cut));
    EXPECT_EQ(DecodeAddress(short_in), Address());
    EXPECT_FALSE(short_in.ok()) << cut;
  }
}

TEST(Address, RandomBytesAreRefusedOrReencodeIdentically) {
  Prng prng(1);
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes(prng.Below(40));
    for (std::byte& b : bytes) b = static_cast<std::byte>(prng.Next());
    if (!bytes.empty()) bytes[0] = static_cast<std::byte>(prng.Below(8));
    Reader in(bytes);
    const Address address = DecodeAddress(in);
    if (!in.ok()) continue;
    Writer out;
    Encode(out, address);
    ASSERT_EQ(out.Take(),
              Bytes(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(in.remaining())))
        << "seed 1, round " << i;
  }
}

}  // namespace
}  // namespace ringlet
