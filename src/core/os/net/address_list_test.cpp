#include "os/net/address_list.hpp"

#include <gmock/gmock.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>

namespace ringlet::os {
namespace {

using testing::ElementsAre;

// A message in this machine's byte order, as the kernel writes it.
class Message {
 public:
  Message(std::uint16_t type, std::uint16_t flags, const ifaddrmsg& body) {
    Put(nlmsghdr{
        .nlmsg_len = 0, .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = 0, .nlmsg_pid = 0});
    Put(body);
  }
  Message& Attribute(std::uint16_t type, std::string_view value) {
    Put(rtattr{.rta_len = static_cast<std::uint16_t>(sizeof(rtattr) + value.size()),
               .rta_type = type});
    bytes_ += value;
    bytes_.resize((bytes_.size() + 3) & ~std::size_t{3});
    return *this;
  }
  std::string Text() const {
    std::string text = bytes_;
    const auto size = static_cast<std::uint32_t>(text.size());
    std::memcpy(text.data(), &size, sizeof size);
    return text;
  }

 private:
  template <typename T>
  void Put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string bytes_;
};

ifaddrmsg Body(unsigned family, unsigned prefix, unsigned index) {
  ifaddrmsg body{};
  body.ifa_family = static_cast<std::uint8_t>(family);
  body.ifa_prefixlen = static_cast<std::uint8_t>(prefix);
  body.ifa_index = index;
  return body;
}

Message Ipv4(unsigned index) {
  return Message(RTM_NEWADDR, NLM_F_MULTI, Body(AF_INET, 24, index));
}

const std::string kEnd = Message(NLMSG_DONE, NLM_F_MULTI, {}).Text();
constexpr std::string_view kTen("\x0a\0\0\x05", 4);
constexpr std::string_view kPeer("\x0a\0\0\x06", 4);

TEST(AddressList, APointToPointLinkReportsItsLocalAddress) {
  const auto found = ParseAddressMessages(
      AsView(Ipv4(7).Attribute(IFA_ADDRESS, kPeer).Attribute(IFA_LOCAL, kTen).Text() + kEnd));
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->ended);
  EXPECT_THAT(found->addresses,
              ElementsAre(ListedAddress{7, "", {Address::Ipv4(10, 0, 0, 5, 0), 24}}));
}

TEST(AddressList, ALabelEndsAtItsNul) {
  const auto found = ParseAddressMessages(
      AsView(Ipv4(2).Attribute(IFA_ADDRESS, kTen).Attribute(IFA_LABEL, {"eth0:1\0", 7}).Text()));
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->ended);
  EXPECT_THAT(found->addresses,
              ElementsAre(ListedAddress{2, "eth0:1", {Address::Ipv4(10, 0, 0, 5, 0), 24}}));
}

TEST(AddressList, ALinkLocalAddressHasTheIndexOfItsInterface) {
  const std::string ip = std::string("\xfe\x80", 2) + std::string(13, '\0') + '\x01';
  const auto found = ParseAddressMessages(
      AsView(Message(RTM_NEWADDR, 0, Body(AF_INET6, 64, 9)).Attribute(IFA_ADDRESS, ip).Text()));
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->addresses.size(), 1u);
  EXPECT_EQ(found->addresses[0].own.address.scope, 9u);
  EXPECT_EQ(found->addresses[0].own.prefix_bits, 64u);
}

TEST(AddressList, OtherFamiliesAndMessagesAreSkipped) {
  const auto found =
      ParseAddressMessages(AsView(Message(RTM_NEWADDR, 0, Body(AF_PACKET, 0, 1)).Text() +
                                  Message(RTM_NEWROUTE, 0, Body(AF_INET, 8, 1)).Text() + kEnd));
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->addresses.empty());
}

TEST(AddressList, AMessageCutShortIsRefusedAtEveryByte) {
  const std::string whole = Ipv4(7).Attribute(IFA_LOCAL, kTen).Attribute(IFA_LABEL, "e").Text();
  for (std::size_t bytes = 1; bytes < whole.size(); ++bytes) {
    const auto found = ParseAddressMessages(AsView(whole.substr(0, bytes)));
    ASSERT_FALSE(found.ok()) << bytes;
    EXPECT_EQ(found.error().code, Code::kProtocol) << bytes;
  }
}

TEST(AddressList, AnAddressOfTheWrongLengthIsRefused) {
  const auto found = ParseAddressMessages(AsView(Ipv4(7).Attribute(IFA_LOCAL, "abcde").Text()));
  EXPECT_EQ(found.error().code, Code::kProtocol);
}

TEST(AddressList, AnAttributeOfLengthZeroIsRefused) {
  std::string text = Ipv4(7).Attribute(IFA_LOCAL, kTen).Text();
  std::memset(text.data() + sizeof(nlmsghdr) + sizeof(ifaddrmsg), 0, 2);
  EXPECT_EQ(ParseAddressMessages(AsView(text)).error().code, Code::kProtocol);
}

TEST(AddressList, ARefusalAndAnInterruptedListAreErrors) {
  const auto refused = ParseAddressMessages(AsView(Message(NLMSG_ERROR, 0, {}).Text()));
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
  const auto changed =
      ParseAddressMessages(AsView(Message(NLMSG_DONE, NLM_F_DUMP_INTR, {}).Text()));
  EXPECT_EQ(changed.error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace ringlet::os
