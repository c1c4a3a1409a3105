#include <gmock/gmock.h>

#include "topo/lint/lint_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;

const std::string kFirstGpu = "system/cpu[0]/pci[0000:01:00.0]/gpu";
const std::string kSecondGpu = "system/cpu[0]/pci[0000:02:00.0]/gpu";
const std::string kThere = kFirstGpu + "/nvlink[0000:02:00.0]";
const std::string kBack = kSecondGpu + "/nvlink[0000:01:00.0]";

/// Returns the findings about two GPUs with a bridge, after a change.
template <typename Change>
std::vector<std::string> SaidOfLinks(Change change) {
  return FindingLinesAfter("2 gpu a100-pcie pairs",
                           [&](HostView& v) { change(v, v.gpus[0].links, v.gpus[1].links); });
}

TEST(LintLinksTest, AcceptsGoodLinks) {
  EXPECT_THAT(SaidOfLinks([](auto&, auto&, auto&) {}), ElementsAre());
  for (const char* words : {"8 gpu v100-sxm2 cube-mesh", "8 gpu h100-sxm5 switch",
                            "4 gpu a100-sxm4 mesh", "8 gpu mi300x mesh"})
    EXPECT_THAT(FindingLinesAfter(words, [](HostView&) {}), ElementsAre()) << words;
}

TEST(LintLinksTest, ReportsALinkToItself) {
  EXPECT_THAT(SaidOfLinks([](HostView& v, auto& there, auto& back) {
                there[0].target = v.pci[0].bus;
                back[0].target = v.pci[1].bus;
              }),
              ElementsAre("error nvlink-self-loop " + kFirstGpu + "/nvlink[0000:01:00.0]",
                          "error nvlink-self-loop " + kSecondGpu + "/nvlink[0000:02:00.0]"));
}

TEST(LintLinksTest, ReportsANeighbourWithAnImpossibleAddress) {
  EXPECT_THAT(FindingLinesAfter("2 gpu h100-sxm5 switch",
                                [](HostView& v) {
                                  for (Gpu& gpu : v.gpus)
                                    gpu.links[0].target = BusId::Of(0, 5, 0x3f, 0);
                                }),
              ElementsAre("warning impossible-bus-id " + kFirstGpu + "/nvlink[0000:05:3f.0]",
                          "warning impossible-bus-id " + kSecondGpu + "/nvlink[0000:05:3f.0]"));
}

TEST(LintLinksTest, BothEndsMustAgreeOnTheCount) {
  EXPECT_THAT(SaidOfLinks([](auto&, auto& there, auto&) { there[0].count = 1; }),
              ElementsAre("error nvlink-asymmetric " + kBack));
  EXPECT_THAT(SaidOfLinks([](auto&, auto& there, auto&) { there.clear(); }),
              ElementsAre("error nvlink-asymmetric " + kBack));
  EXPECT_THAT(SaidOfLinks([](auto&, auto&, auto& back) { back.clear(); }),
              ElementsAre("error nvlink-asymmetric " + kThere));
  EXPECT_THAT(SaidOfLinks([](auto&, auto& there, auto&) {  // two elements, as many links
                there[0].count = 6;
                there.push_back(there[0]);
              }),
              ElementsAre());
}

TEST(LintLinksTest, ReportsACountOfZero) {
  EXPECT_THAT(
      SaidOfLinks([](auto&, auto& there, auto& back) { there[0].count = back[0].count = 0; }),
      ElementsAre("error nvlink-count-0 " + kThere, "error nvlink-count-0 " + kBack));
}

TEST(LintLinksTest, LimitsTheLinksOfAGpu) {
  EXPECT_THAT(
      SaidOfLinks([](auto&, auto& there, auto& back) { there[0].count = back[0].count = 13; }),
      ElementsAre("error nvlink-too-many " + kFirstGpu, "error nvlink-too-many " + kSecondGpu));
}

TEST(LintLinksTest, TheClassMustMatchTheTarget) {
  EXPECT_THAT(
      SaidOfLinks([](auto&, auto& there, auto&) { there[0].target_class = PciClass{0x068000}; }),
      ElementsAre("error nvlink-odd-class " + kThere));
  EXPECT_THAT(SaidOfLinks([](auto&, auto& there, auto&) { there[0].target_class.reset(); }),
              ElementsAre("warning missing-class " + kThere));
  EXPECT_THAT(SaidOfLinks([](auto&, auto& there, auto& back) {
                there[0].target.reset();
                back.clear();
              }),
              ElementsAre("error nvlink-no-target " + kFirstGpu + "/nvlink[not visible]"));
}

TEST(LintLinksTest, ATargetMayBeOutsideTheFile) {
  EXPECT_THAT(SaidOfLinks([](auto&, auto& there, auto& back) {
                there[0].target = BusId{0x99000};
                back.clear();
              }),
              ElementsAre("note nvlink-elsewhere " + kFirstGpu + "/nvlink[0000:99:00.0]"));
}

TEST(LintLinksTest, C2cLinksNeedABandwidth) {
  EXPECT_THAT(FindingLinesAfter("gpu",
                                [](HostView& v) {
                                  v.gpus[0].c2c = {{0, 10}};
                                }),
              ElementsAre("error c2c-without-bandwidth " + kFirstGpu + "/c2c"));
}

}  // namespace
}  // namespace ringlet::topology
