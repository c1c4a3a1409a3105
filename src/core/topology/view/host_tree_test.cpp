#include "topology/view/host_tree.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

using Parts = std::vector<Part>;

TEST(HostTreeTest, ListsThePartsBelowAPart) {
  HostView view{.name = "", .cpu = {}, .numa_nodes = {{}}, .nets = {}};
  view.pci = {{.parent = {PartKind::kNuma, 0}, .bus = BusId{1}},
              {.parent = {PartKind::kPci, 0}, .bus = BusId{2}}};
  view.gpus = {{.pci = 0, .gcn = ""}};
  view.nics = {{{PartKind::kPci, 0}}};
  view.nets = {{"a", std::nullopt, std::nullopt}, {"b", std::nullopt, std::nullopt, 0}};
  ASSERT_TRUE(view.Check().ok());
  const HostTree tree(view);
  EXPECT_EQ(tree.Below({PartKind::kSystem}), (Parts{{PartKind::kNuma, 0}}));
  EXPECT_EQ(tree.Below({PartKind::kNuma, 0}), (Parts{{PartKind::kPci, 0}}));
  EXPECT_EQ(tree.Below({PartKind::kPci, 0}),
            (Parts{{PartKind::kGpu, 0}, {PartKind::kNic, 0}, {PartKind::kPci, 1}}));
  EXPECT_EQ(tree.Below({PartKind::kNic, 0}), (Parts{{PartKind::kNet, 1}}));
  EXPECT_EQ(tree.Below({PartKind::kGpu, 0}), Parts());
  EXPECT_EQ(tree.loose_nets(), (std::vector<std::uint32_t>{0}));
}

TEST(HostTreeTest, NicsOfANodeKeepTheirNumbersWhenReadAgain) {
  HostView view{.name = "", .cpu = {}, .numa_nodes = {{}}, .nets = {}};
  for (std::uint64_t i = 0; i < 3; ++i)
    view.pci.push_back({.parent = {PartKind::kNuma, 0}, .bus = BusId{i}});
  view.nics = {
      {{PartKind::kPci, 0}}, {{PartKind::kNuma, 0}}, {{PartKind::kPci, 2}}, {{PartKind::kNuma, 0}}};
  const HostTree tree(view);
  EXPECT_EQ(tree.Below({PartKind::kNuma, 0}), (Parts{{PartKind::kPci, 0},
                                                     {PartKind::kPci, 1},
                                                     {PartKind::kNic, 1},
                                                     {PartKind::kPci, 2},
                                                     {PartKind::kNic, 3}}));
}

}  // namespace
}  // namespace ringlet::topology
