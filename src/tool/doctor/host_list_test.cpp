#include "tool/doctor/host_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string WhyNot(std::string_view text) {
  const auto hosts = ParseHostList(text);
  return hosts.ok() ? "" : hosts.error().message;
}

TEST(HostList, ParsesNamesAndRanges) {
  EXPECT_THAT(*ParseHostList("a,b , a"), ElementsAre("a", "b"));
  EXPECT_THAT(*ParseHostList("n[08-10,2].x,m"),
              ElementsAre("n08.x", "n09.x", "n10.x", "n2.x", "m"));
  EXPECT_THAT(*ParseHostList("a:4,fd00::1"), ElementsAre("a", "fd00::1"));
  EXPECT_THAT(*ParseHostList("me@a"), ElementsAre("me@a"));
}

TEST(HostList, RefusesInvalidTexts) {
  EXPECT_THAT(WhyNot(""), HasSubstr("a name is empty"));
  EXPECT_THAT(WhyNot("a,,b"), HasSubstr("a name is empty"));
  EXPECT_THAT(WhyNot("-oProxyCommand=x"), HasSubstr("not the name of a host"));
  EXPECT_THAT(WhyNot("a b"), HasSubstr("not the name of a host"));
  EXPECT_THAT(WhyNot("a'b"), HasSubstr("not the name of a host"));
  EXPECT_THAT(WhyNot("n[1-"), HasSubstr("not closed"));
  EXPECT_THAT(WhyNot("n[3-1]"), HasSubstr("not a range"));
  EXPECT_THAT(WhyNot("n[a]"), HasSubstr("not a range"));
  EXPECT_THAT(WhyNot("n[0-1024]"), HasSubstr("at most 1024"));
  EXPECT_THAT(WhyNot("n[0-999999999]"), HasSubstr("at most 1024"));
  EXPECT_THAT(WhyNot("n[0-1000],m[0-1000]"), HasSubstr("at most 1024"));
  EXPECT_THAT(WhyNot(std::string(300, 'x')), HasSubstr("not the name of a host"));
}

TEST(HostFile, ParsesIpv6AddressesInBrackets) {
  EXPECT_THAT(*ParseHostFile("node1 slots=2\n[fe80::1%eth0]:2\n[::1]\n"),
              ElementsAre("node1", "fe80::1%eth0", "::1"));
  EXPECT_THAT(*ParseHostList("[fd00::1]:8,n[1-2]"), ElementsAre("fd00::1", "n1", "n2"));
  EXPECT_THAT(WhyNot("[fe80::1]x"), HasSubstr("not a range"));
}

TEST(HostFile, ParsesFilesOfLaunchers) {
  EXPECT_THAT(*ParseHostFile("# ours\na slots=8\n\n  b:4 # old\nc[1-2]\n"),
              ElementsAre("a", "b", "c1", "c2"));
  EXPECT_THAT(*ParseHostFile("n[0-1023]"), SizeIs(kDoctorHostsMax));
  EXPECT_FALSE(ParseHostFile("# none\n").ok());
  EXPECT_FALSE(ParseHostFile("-x\n").ok());
}

}  // namespace
}  // namespace ringlet::cli
