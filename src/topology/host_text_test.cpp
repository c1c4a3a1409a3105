#include "topology/host_text.hpp"

#include <gmock/gmock.h>

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

constexpr std::string_view kText =
    "ringlet-host 1\n"
    "host \"node-a\" identity 0x1122334455667788\n"
    "cpu arch \"x86_64\" vendor \"GenuineIntel\" family 6 model 143 name \"Xeon(R) \\\"8480\\\"\"\n"
    "numa 0 cpus \"0-55,112-167\" memory 270000000000 distances \"10 21\"\n"
    "numa 1 cpus \"56-111,168-223\" memory 270000000000 distances \"21 10\"\n"
    "net \"eth0\" speed 25000 numa 0\n"
    "net \"eth1\"\n";

std::string ErrorOf(std::string_view text) {
  const Result<HostView> view = ParseText(text);
  return view.ok() ? "no error" : view.error().message;
}

std::string With(std::string_view line) {
  return "ringlet-host 1\nnuma 0\n" + std::string(line) + "\n";
}

TEST(HostTextTest, RoundTrips) {
  const HostView view = ParseText(kText).value();
  EXPECT_EQ(view.name, "node-a");
  EXPECT_EQ(view.identity, 0x1122334455667788u);
  EXPECT_EQ(view.cpu.name, "Xeon(R) \"8480\"");
  ASSERT_EQ(view.numa_nodes.size(), 2u);
  EXPECT_EQ(view.numa_nodes[1].distances, (std::vector<std::uint32_t>{21, 10}));
  EXPECT_EQ(view.nets[0].numa, 0u);
  EXPECT_EQ(view.nets[1].speed_mbit_per_s, std::nullopt);
  EXPECT_EQ(ToText(view), kText);
}

TEST(HostTextTest, CommentsEmptyLinesAndOtherOrdersAreFine) {
  const HostView view =
      ParseText("# a host\n\nringlet-host 1\nnuma 0 memory 1 cpus 0-1\r\n").value();
  EXPECT_EQ(view.numa_nodes[0].cpus.Count(), 2u);
}

TEST(HostTextTest, AnErrorNamesTheLine) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("1 to 4096 NUMA nodes"));
  EXPECT_THAT(ErrorOf("host x"), HasSubstr("line 1 of the host text should be"));
  EXPECT_THAT(ErrorOf(With("gpu 0")), HasSubstr("line 3 of the host text: it starts with \"gpu\""));
  EXPECT_THAT(ErrorOf(With("net eth0 speed fast")), HasSubstr("speed is \"fast\""));
  EXPECT_THAT(ErrorOf(With("net eth0 speed")), HasSubstr("speed has no value"));
  EXPECT_THAT(ErrorOf(With("net eth0 speed 1 speed 2")), HasSubstr("speed occurs twice"));
  EXPECT_THAT(ErrorOf(With("net eth0 color red")), HasSubstr("color is unknown here"));
  EXPECT_THAT(ErrorOf(With("net \"eth0")), HasSubstr("quote"));
  EXPECT_THAT(ErrorOf(With("net")), HasSubstr("name is missing"));
  EXPECT_THAT(ErrorOf(With("numa x")), HasSubstr("the number is \"x\""));
  EXPECT_THAT(ErrorOf(With("numa 1 cpus 3-1")), HasSubstr("no list of CPUs"));
  EXPECT_THAT(ErrorOf(With("numa 1 distances \"10 x\"")), HasSubstr("distance"));
}

TEST(HostTextTest, WhatTheValueForbidsIsRefused) {
  EXPECT_THAT(ErrorOf(With("numa 0")), HasSubstr("occurs twice"));
  EXPECT_THAT(ErrorOf(With("net eth0 numa 7")), HasSubstr("NUMA node 7, which the host lacks"));
}

}  // namespace
}  // namespace ringlet::topology
