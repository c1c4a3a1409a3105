#include "comm/process/parts/slow_link.hpp"

#include <gmock/gmock.h>

#include <span>

#include "topo/edit/synthetic.hpp"

namespace ringlet::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

topology::Graph FourGpus() {
  const auto view =
      topology::ParseSynthetic("2x(numa: (switch: 2 gpu a100-sxm4 switch, 1 nic 200g))").value();
  return topology::Build(std::span(&view, 1), {}, {.gpus = topology::GpuRanks::kAll}).value();
}

/// Returns "NET/0-1 NIC/0-41000" for each link, sorted by the graph.
std::vector<std::string> Links(std::string_view text) {
  const topology::Graph graph = FourGpus();
  const SlowLink slow = ParseSlowLinks(text).value().front();
  std::vector<std::string> found;
  for (const auto& [one, other] : LinksOf(graph))
    if (IsBetween(slow, graph, one, other))
      found.push_back(std::string(NameOf(graph.at(one).kind)) + " " +
                      std::string(NameOf(graph.at(other).kind)));
  return found;
}

TEST(SlowLinkTest, ParsesItsText) {
  EXPECT_THAT(ParseSlowLinks("link=NET2:0.1").value(),
              ElementsAre(SlowLink{.first = "NET2", .millionths = 100'000}));
  EXPECT_THAT(ParseSlowLinks("link=DEV/0-7000,NVS/0-0@host-1:0.25; link=GPU3:1").value(),
              ElementsAre(SlowLink{"DEV/0-7000", "NVS/0-0", "host-1", 250'000},
                          SlowLink{.first = "GPU3", .millionths = 1'000'000}));
}

TEST(SlowLinkTest, TextRoundTrips) {
  for (const char* text : {"link=NET2:0.100000", "link=A/0-1,B/0-2@h:0.001000", "link=X:1.000000"})
    EXPECT_EQ(ToText(ParseSlowLinks(text).value().front()), text);
}

TEST(SlowLinkTest, RefusesInvalidTexts) {
  for (const char* text :
       {"", "NET2:0.1", "link=NET2", "link=:0.1", "link=NET2:0", "link=NET2:0.0009",
        "link=NET2:1.1", "link=NET2:2", "link=NET2:-0.5", "link=NET2:0.1234567", "link=NET2:1e-1",
        "link=NET2:0.", "link=A,:0.5", "link=A@:0.5", "link=NET2:nan", "link=A:0.5;x"}) {
    const auto links = ParseSlowLinks(text);
    ASSERT_FALSE(links.ok()) << text;
    EXPECT_EQ(links.error().code, Code::kInvalidArgument);
    EXPECT_THAT(links.error().message, HasSubstr("link=NET2:0.1, with a fraction"));
  }
}

TEST(SlowLinkTest, ANodeNameSelectsAllItsLinks) {
  EXPECT_THAT(Links("link=NET1:0.1"), ElementsAre("NIC NET"));
  EXPECT_THAT(Links("link=net1:0.1"), ElementsAre("NIC NET"));
  EXPECT_EQ(Links("link=GPU2:0.1"), Links("link=DEV2:0.1"));
  EXPECT_THAT(Links("link=GPU2:0.1"), testing::UnorderedElementsAre("NVS DEV", "PCI DEV"));
  EXPECT_THAT(Links("link=NET7:0.1"), ElementsAre());
}

TEST(SlowLinkTest, TwoNodeNamesSelectTheLinkBetweenThem) {
  EXPECT_THAT(Links("link=GPU2,NVS0:0.1"), ElementsAre("NVS DEV"));
  EXPECT_THAT(Links("link=NVS0,GPU2:0.1"), ElementsAre("NVS DEV"));
  EXPECT_THAT(Links("link=GPU2,GPU1:0.1"), ElementsAre());
}

TEST(SlowLinkTest, NodesHaveTheirNamesInReports) {
  const topology::Graph graph = FourGpus();
  ASSERT_FALSE(LinksOf(graph).empty());
  for (const auto& [one, other] : LinksOf(graph))
    for (const topology::NodeIndex node : {one, other})
      EXPECT_EQ(NamesOfEnd(graph, node).front(), topology::NameOnHost(graph, node));
}

}  // namespace
}  // namespace ringlet::comm
