#include "topo/check/boards.hpp"

#include <gtest/gtest.h>

#include <set>

#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

TEST(BoardsTest, EveryBoardHasASource) {
  std::set<std::pair<std::uint16_t, std::uint16_t>> ids;
  for (const GpuBoard& board : GpuBoards()) {
    EXPECT_FALSE(board.source.empty()) << board.model;
    EXPECT_TRUE(ids.emplace(board.vendor, board.device).second) << board.model;
    EXPECT_EQ(FindGpuBoard(PciIds{.vendor = board.vendor, .device = board.device}), &board);
  }
  EXPECT_EQ(FindGpuBoard(PciIds{.vendor = 0x10de, .device = 0x20f1}), nullptr);  // a card
}

TEST(BoardsTest, BoardsAgreeWithTheModels) {
  for (const GpuBoard& board : GpuBoards()) {
    const GpuModel* model = FindGpuModel(board.model);
    if (model == nullptr) continue;
    EXPECT_EQ(model->device, board.device) << board.model;
    EXPECT_EQ(model->pcie_generation, board.generation) << board.model;
    if (board.links != 0) {
      EXPECT_EQ(model->links, board.links) << board.model;
    }
  }
}

TEST(BoardsTest, DistinguishesWholeBoardsFromOtherCounts) {
  const GpuBoard& board = *FindGpuBoard(PciIds{.vendor = 0x10de, .device = 0x1db5});
  for (const std::uint32_t gpus : {1u, 2u, 4u, 8u, 16u})
    EXPECT_TRUE(IsWholeBoard(board, gpus, false)) << gpus;
  for (const std::uint32_t gpus : {3u, 5u, 6u, 7u, 9u, 12u})
    EXPECT_FALSE(IsWholeBoard(board, gpus, false)) << gpus;
  EXPECT_TRUE(IsWholeBoard(board, 6, true));
}

}  // namespace
}  // namespace ringlet::topology
