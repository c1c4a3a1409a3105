#include "c_api/handle/red_op.hpp"

#include <gmock/gmock.h>

#include "c_api/comms_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

class RedOps : public testing::Test {
 protected:
  void TearDown() override { DestroyAll(comms_); }

  ncclRedOp_t Make(float* scalar, ncclScalarResidence_t residence, std::size_t rank) {
    ncclRedOp_t op = ncclSum;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, scalar, ncclFloat, residence, comms_[rank]),
              ncclSuccess);
    return op;
  }
  ncclResult_t AllReduce(float* data, ncclRedOp_t op, std::size_t rank) {
    return ncclAllReduce(data, data, 1, ncclFloat, op, comms_[rank], nullptr);
  }

  const Comms comms_ = InitAll(2);
};

TEST_F(RedOps, AScalarOnTheDeviceIsReadWhenTheOperationRuns) {
  float scalars[] = {10, 10, 10}, data[] = {1, 1};
  const ncclRedOp_t first = Make(&scalars[0], ncclScalarDevice, 0);
  const ncclRedOp_t second = Make(&scalars[1], ncclScalarHostImmediate, 1);
  scalars[0] = 2;
  scalars[1] = 3;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(AllReduce(&data[0], first, 0), ncclSuccess);
  EXPECT_EQ(AllReduce(&data[1], second, 1), ncclSuccess);
  scalars[0] = 4;
  EXPECT_EQ(ncclRedOpDestroy(first, comms_[0]), ncclSuccess) << "what was called keeps it";
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(data[0], 14);
  EXPECT_EQ(data[1], 14);
}

TEST_F(RedOps, AScalarMayBeTheResultOfAnEarlierOperation) {
  float scalars[] = {1, 2}, data[] = {1, 1};
  const ncclRedOp_t ops[] = {Make(&scalars[0], ncclScalarDevice, 0),
                             Make(&scalars[1], ncclScalarDevice, 1)};
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(AllReduce(&scalars[rank], ncclSum, rank), ncclSuccess);
    EXPECT_EQ(AllReduce(&data[rank], ops[rank], rank), ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(data[0], 6);
}

TEST_F(RedOps, RefuseWrongReductionsByNumber) {
  float scalar = 1;
  ncclRedOp_t op;
  EXPECT_EQ(ncclRedOpDestroy(ncclMax, comms_[0]), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("reduction 2 is built in"));
  EXPECT_EQ(ncclRedOpDestroy(static_cast<ncclRedOp_t>(77), comms_[0]), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("reduction 77"));
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &scalar, ncclFloat, EnumOf<ncclScalarResidence_t>(2),
                                     comms_[0]),
            ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("residence is 2"));
}

// The number of a destroyed operation gives an error, and not a later operation's scalar.
TEST_F(RedOps, ADestroyedReductionStaysInvalid) {
  float scalar = 3, data = 1;
  const ncclRedOp_t first = Make(&scalar, ncclScalarHostImmediate, 0);
  EXPECT_EQ(ncclRedOpDestroy(first, comms_[0]), ncclSuccess);
  const ncclRedOp_t second = Make(&scalar, ncclScalarHostImmediate, 0);
  EXPECT_NE(second, first);
  EXPECT_EQ(AllReduce(&data, first, 0), ncclInvalidArgument);
  EXPECT_EQ(AllReduce(&data, second, 1), ncclInvalidArgument) << "of another communicator";
}

TEST_F(RedOps, BelongToTheirCommunicatorAndEndWithIt) {
  constexpr int kMost = 1 << 16;
  float scalar = 2, data[] = {1, 1};
  const Comms others = InitAll(1);
  const ncclRedOp_t kept[] = {Make(&scalar, ncclScalarHostImmediate, 0),
                              Make(&scalar, ncclScalarHostImmediate, 1)};
  const auto make_one_of_others = [&] {
    ncclRedOp_t op;
    return ncclRedOpCreatePreMulSum(&op, &scalar, ncclFloat, ncclScalarHostImmediate, others[0]);
  };
  int made = 2;
  while (made < kMost && make_one_of_others() == ncclSuccess) ++made;
  EXPECT_EQ(made, kMost);
  EXPECT_EQ(make_one_of_others(), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("65536 reductions exist"));
  DestroyAll(others);
  Make(&scalar, ncclScalarHostImmediate, 0);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t rank = 0; rank < 2; ++rank)
    EXPECT_EQ(AllReduce(&data[rank], kept[rank], rank), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(data[0], 4);
}

}  // namespace
}  // namespace ringlet::c_api
