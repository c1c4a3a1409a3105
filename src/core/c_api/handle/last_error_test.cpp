#include "c_api/handle/last_error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace ringlet::c_api {
namespace {

std::string SeenByAnotherThread() {
  std::string seen;
  std::thread([&] { seen = LastError(); }).join();
  return seen;
}

TEST(LastError, IsThatOfTheThreadOrElseOfTheProcess) {
  RecordLastError({Code::kSystem, "mine"});
  EXPECT_STREQ(LastError(), "mine");
  EXPECT_EQ(SeenByAnotherThread(), "mine") << "which had none";
  std::thread([] {
    RecordLastError({Code::kSystem, "of another"});
    EXPECT_STREQ(LastError(), "of another");
  }).join();
  EXPECT_STREQ(LastError(), "mine");
  EXPECT_EQ(SeenByAnotherThread(), "of another");
  RecordLastError({Code::kSystem, "mine again"});
  EXPECT_STREQ(LastError(), "mine again");
  EXPECT_EQ(SeenByAnotherThread(), "mine again");
}

TEST(LastError, KeepsTheLostRankOfTheThread) {
  EXPECT_EQ(LastLostRank(), -1) << "no error, or one without a rank";
  RecordLastError({.code = Code::kPeerLost, .message = "it died", .lost_rank = 3});
  EXPECT_EQ(LastLostRank(), 3);
  std::thread([] { EXPECT_EQ(LastLostRank(), -1) << "another thread"; }).join();
  RecordLastError({Code::kTimeout, "too late"});
  EXPECT_EQ(LastLostRank(), -1);
}

TEST(LastError, MapsEachCodeToACodeOfNccl) {
  EXPECT_EQ(ToResult(Code::kInvalidArgument), ncclInvalidArgument);
  EXPECT_EQ(ToResult(Code::kUnsupported), ncclInvalidUsage);
  EXPECT_EQ(ToResult(Code::kProtocol), ncclInvalidUsage);
  EXPECT_EQ(ToResult(Code::kSystem), ncclSystemError);
  EXPECT_EQ(ToResult(Code::kPeerLost), ncclRemoteError);
  EXPECT_EQ(ToResult(Code::kTimeout), ncclTimeout);
  EXPECT_EQ(ToResult(Code::kAborted), ncclRemoteError);
}

}  // namespace
}  // namespace ringlet::c_api
