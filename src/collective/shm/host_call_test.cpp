#include "collective/shm/host_call.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

TEST(HostCall, SharesCoverAllBytesInOrder) {
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

TEST(HostCall, SlicesCoverTheBlockAndFitTheStage) {
  for (std::size_t o = 0; o < kCallKinds; ++o) {
    for (const std::uint64_t count : {1u, 7u, 63u, 64u, 4099u}) {
      const HostCall call{
          .operation = static_cast<CallKind>(o), .type = DataType::kFloat64, .count = count};
      const Slicing slicing = SlicingOf(call, 5, 1024);
      std::size_t at = 0;
      for (std::uint64_t slice = 0; slice < slicing.slices; ++slice) {
        const Piece piece = slicing.At(slice);
        EXPECT_EQ(piece.begin, at);
        EXPECT_GT(piece.bytes, 0u);
        EXPECT_LE(piece.bytes * (PieceEach(call.operation) ? 5 : 1), 1024u);
        at += piece.bytes;
      }
      EXPECT_EQ(at, count * 8);
    }
  }
}

TEST(HostCall, SaysWhatWasCalled) {
  EXPECT_EQ(
      ToText(HostCall{.operation = CallKind::kAllReduce, .type = DataType::kFloat32, .count = 8}),
      "all_reduce of 8 float sum");
  EXPECT_EQ(ToText(HostCall{.operation = CallKind::kBroadcast,
                            .type = DataType::kFloat32,
                            .count = 8,
                            .root = Rank{2}}),
            "broadcast of 8 float at root 2");
  EXPECT_EQ(ToText(HostCall{.operation = CallKind::kBarrier}), "barrier");
  EXPECT_EQ(ToText(HostCall{.operation = static_cast<CallKind>(200)}), "unknown operation 200");
}

TEST(HostCall, SizesAreThoseThatNcclDocuments) {
  const auto sizes = [](CallKind operation, std::uint32_t self) {
    const HostSizes found = SizesOf(
        {.operation = operation, .type = DataType::kInt32, .count = 10, .root = Rank{1}}, self, 3);
    return std::pair(found.input, found.output);
  };
  using P = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(sizes(CallKind::kAllReduce, 0), P(40, 40));
  EXPECT_EQ(sizes(CallKind::kAllGather, 0), P(40, 120));
  EXPECT_EQ(sizes(CallKind::kReduceScatter, 0), P(120, 40));
  EXPECT_EQ(sizes(CallKind::kBroadcast, 0), P(0, 40));
  EXPECT_EQ(sizes(CallKind::kBroadcast, 1), P(40, 40));
  EXPECT_EQ(sizes(CallKind::kReduce, 0), P(40, 0));
  EXPECT_EQ(sizes(CallKind::kReduce, 1), P(40, 40));
  EXPECT_EQ(sizes(CallKind::kAllToAll, 2), P(120, 120));
  EXPECT_EQ(sizes(CallKind::kGather, 0), P(40, 0));
  EXPECT_EQ(sizes(CallKind::kGather, 1), P(40, 120));
  EXPECT_EQ(sizes(CallKind::kScatter, 0), P(0, 40));
  EXPECT_EQ(sizes(CallKind::kScatter, 1), P(120, 40));
}

}  // namespace
}  // namespace ringlet::collective
