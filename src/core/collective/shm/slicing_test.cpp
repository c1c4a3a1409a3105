#include "collective/shm/slicing.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

TEST(Slicing, SharesCoverAllBytesInOrder) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 7u, 64u}) {
    for (const std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 128u, 1000u, 4096u, 262144u}) {
      std::size_t at = 0;
      for (std::uint32_t who = 0; who < ranks; ++who) {
        const Piece share = ShareOf(bytes, who, ranks);
        EXPECT_EQ(share.begin, at);
        EXPECT_TRUE(share.begin % 64 == 0 || share.bytes == 0);
        EXPECT_LE(share.bytes, bytes / ranks + 127);
        at += share.bytes;
      }
      EXPECT_EQ(at, bytes) << ranks;
    }
  }
}

TEST(Slicing, SlicesCoverTheBlockAndFitTheStage) {
  for (std::size_t o = 0; o < kCallKinds; ++o) {
    for (const std::uint64_t count : {1u, 7u, 63u, 64u, 4099u}) {
      const Call call{.kind = static_cast<CallKind>(o), .count = count, .type = DataType::kFloat64};
      const Slicing slicing = SlicingOf(call, 5, 1024);
      std::size_t at = 0;
      for (std::uint64_t slice = 0; slice < slicing.slices; ++slice) {
        const Piece piece = slicing.At(slice);
        EXPECT_EQ(piece.begin, at);
        EXPECT_GT(piece.bytes, 0u);
        EXPECT_LE(piece.bytes * (PieceEach(call.kind) ? 5 : 1), 1024u);
        at += piece.bytes;
      }
      EXPECT_EQ(at, count * 8);
    }
  }
}

}  // namespace
}  // namespace ringlet::collective
