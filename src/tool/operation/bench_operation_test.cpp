#include "tool/operation/bench_operation.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(BenchOperationTest, EveryOperationIsFoundByNameAndByKind) {
  EXPECT_EQ(BenchOperations().size(), 10u);
  for (const BenchOperation& operation : BenchOperations()) {
    EXPECT_EQ(BenchOperationNamed(operation.name), &operation);
    EXPECT_EQ(&BenchOperationOf(operation.kind), &operation);
  }
  EXPECT_EQ(BenchOperationNamed("allreduce"), BenchOperationNamed("all_reduce"));
  EXPECT_EQ(BenchOperationNamed("all_reverse"), nullptr);
}

// Source  nccl-tests, doc/PERFORMANCE.md.
TEST(BenchOperationTest, BusFactorsAreThoseOfNcclTests) {
  const auto factor = [](std::string_view name, std::uint32_t ranks) {
    return BusFactor(BenchOperationNamed(name)->kind, ranks);
  };
  EXPECT_DOUBLE_EQ(factor("all_reduce", 4), 1.5);
  for (const char* name : {"all_gather", "reduce_scatter", "alltoall", "gather", "scatter"})
    EXPECT_DOUBLE_EQ(factor(name, 4), 0.75) << name;
  for (const char* name : {"broadcast", "reduce", "sendrecv"})
    EXPECT_DOUBLE_EQ(factor(name, 4), 1) << name;
  EXPECT_DOUBLE_EQ(factor("all_gather", 1), 0);
}

TEST(BenchOperationTest, DividesTheSizeAmongRanksWhereTheyShareIt) {
  const auto count = [](std::string_view name, std::size_t elements) {
    return CallCount(*BenchOperationNamed(name), elements, 4);
  };
  EXPECT_EQ(count("all_reduce", 100), 100u);
  EXPECT_EQ(count("all_gather", 100), 25u);
  EXPECT_EQ(count("alltoall", 103), 25u);
  EXPECT_EQ(count("scatter", 2), 1u);
  EXPECT_EQ(count("barrier", 100), 0u);
  EXPECT_EQ(SizeElements(*BenchOperationNamed("all_gather"), 25, 4), 100u);
  EXPECT_EQ(SizeElements(*BenchOperationNamed("reduce"), 25, 4), 25u);
}

}  // namespace
}  // namespace ringlet::cli
