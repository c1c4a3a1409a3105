#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "c_api/comms_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

TEST(NcclMemory, MemoryIsAllocatedRegisteredUsedAndFreed) {
  const auto comms = InitAll(2);
  constexpr std::size_t kCount = 100'000;
  void* buffers[2] = {};
  void* handles[2] = {};
  ncclWindow_t windows[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ncclMemAlloc(&buffers[i], kCount * 8), ncclSuccess) << ncclGetLastError(nullptr);
    ASSERT_EQ(ncclCommRegister(comms[i], buffers[i], kCount * 4, &handles[i]), ncclSuccess);
    ASSERT_EQ(ncclCommWindowRegister(comms[i], buffers[i], kCount * 8, &windows[i],
                                     NCCL_WIN_COLL_SYMMETRIC),
              ncclSuccess)
        << ncclGetLastError(nullptr);
    std::fill_n(static_cast<std::int32_t*>(buffers[i]), kCount, static_cast<std::int32_t>(i + 1));
  }
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    ASSERT_EQ(ncclAllReduce(buffers[i], buffers[i], kCount, ncclInt32, ncclSum, comms[i], nullptr),
              ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* const values = static_cast<std::int32_t*>(buffers[i]);
    EXPECT_EQ(std::count(values, values + kCount, 3), static_cast<std::ptrdiff_t>(kCount));
    EXPECT_EQ(ncclCommDeregister(comms[i], handles[i]), ncclSuccess);
    EXPECT_EQ(ncclCommDeregister(comms[i], handles[i]), ncclInvalidArgument);
    EXPECT_EQ(ncclCommFinalize(comms[i]), ncclSuccess);
    EXPECT_EQ(ncclCommWindowDeregister(comms[i], windows[i]), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(comms[i]), ncclSuccess);
    EXPECT_EQ(ncclMemFree(buffers[i]), ncclSuccess) << ncclGetLastError(nullptr);
    EXPECT_EQ(ncclMemFree(buffers[i]), ncclInvalidArgument);
  }
}

TEST(NcclMemory, DestroyingACommunicatorEndsItsRegistrations) {
  const auto comms = InitAll(1);
  void* buffer = nullptr;
  void* handle = nullptr;
  ASSERT_EQ(ncclMemAlloc(&buffer, 100), ncclSuccess);
  ASSERT_EQ(ncclCommRegister(comms[0], buffer, 100, &handle), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], handle), ncclInvalidArgument);
  EXPECT_EQ(ncclMemFree(buffer), ncclSuccess) << ncclGetLastError(nullptr);
}

TEST(NcclMemory, RegistrationsAreCounted) {
  const auto comms = InitAll(1);
  void* buffer = nullptr;
  void* handles[2] = {};
  ASSERT_EQ(ncclMemAlloc(&buffer, 100), ncclSuccess);
  for (void*& handle : handles)
    ASSERT_EQ(ncclCommRegister(comms[0], buffer, 100, &handle), ncclSuccess) << LastMessage();
  EXPECT_EQ(ncclCommDeregister(comms[0], handles[0]), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], handles[1]), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], handles[1]), ncclInvalidArgument);
  EXPECT_EQ(ncclMemFree(buffer), ncclSuccess) << LastMessage();
  DestroyAll(comms);
}

Status SumOfTwo(const Comms& comms, void* const* buffers, std::size_t count) {
  for (std::size_t i = 0; i < 2; ++i)
    std::fill_n(static_cast<std::int32_t*>(buffers[i]), count, static_cast<std::int32_t>(i + 1));
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclAllReduce(buffers[i], buffers[i], count, ncclInt32, ncclSum, comms[i], nullptr),
              ncclSuccess);
  if (ncclGroupEnd() != ncclSuccess) return Error{Code::kProtocol, LastMessage()};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* const values = static_cast<std::int32_t*>(buffers[i]);
    if (std::count(values, values + count, 3) != static_cast<std::ptrdiff_t>(count))
      return Error{Code::kProtocol, "a wrong sum"};
  }
  return Ok();
}

// As in NCCL. nccl-tests does this with `-R 1 -p 1`.
TEST(NcclMemory, MemoryMayBeFreedBeforeItIsDeregistered) {
  const auto comms = InitAll(2);
  constexpr std::size_t kCount = 100'000;
  void* freed[2] = {};
  void* handles[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ncclMemAlloc(&freed[i], kCount * 4), ncclSuccess) << LastMessage();
    ASSERT_EQ(ncclCommRegister(comms[i], freed[i], kCount * 4, &handles[i]), ncclSuccess);
  }
  const Status before = SumOfTwo(comms, freed, kCount);
  EXPECT_TRUE(before.ok()) << before.error().message;
  for (void* one : freed) EXPECT_EQ(ncclMemFree(one), ncclSuccess) << LastMessage();
  EXPECT_EQ(ncclMemFree(freed[0]), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("freed already"));
  void* others[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ncclMemAlloc(&others[i], kCount * 4), ncclSuccess) << LastMessage();
    for (const void* one : freed)
      EXPECT_NE(others[i], one) << "peers would be sent to what was freed";
  }
  const Status after = SumOfTwo(comms, others, kCount);
  EXPECT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(ncclCommDeregister(comms[0], handles[0]), ncclSuccess) << LastMessage();
  EXPECT_EQ(ncclCommDeregister(comms[0], handles[0]), ncclInvalidArgument);
  DestroyAll(comms);
  for (void* one : others) EXPECT_EQ(ncclMemFree(one), ncclSuccess) << LastMessage();
}

TEST(NcclMemory, WrongUseOfMemoryIsRefused) {
  const auto comms = InitAll(1);
  void* memory = &memory;
  EXPECT_EQ(ncclMemAlloc(nullptr, 1), ncclInvalidArgument);
  EXPECT_EQ(ncclMemAlloc(&memory, 0), ncclSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(ncclMemFree(nullptr), ncclSuccess);
  int local = 0;
  EXPECT_EQ(ncclMemFree(&local), ncclInvalidArgument);
  EXPECT_EQ(ncclMemAlloc(&memory, std::size_t{1} << 62), ncclSystemError);
  void* handle = nullptr;
  EXPECT_EQ(ncclCommRegister(comms[0], nullptr, 4, &handle), ncclInvalidArgument);
  EXPECT_EQ(ncclCommRegister(comms[0], &local, 4, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommRegister(comms[0], &local, 0, &handle), ncclInvalidArgument);
  ASSERT_EQ(ncclCommRegister(comms[0], &local, 4, &handle), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDeregister(comms[0], &local), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDeregister(comms[0], handle), ncclSuccess);
  ncclWindow_t window = nullptr;
  alignas(NCCL_WIN_REQUIRED_ALIGNMENT) static char aligned[NCCL_WIN_REQUIRED_ALIGNMENT];
  EXPECT_EQ(ncclCommWindowRegister(comms[0], aligned + 8, 8, &window, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommWindowRegister(comms[0], aligned, 8, &window, 64), ncclInvalidArgument);
  EXPECT_EQ(ncclCommWindowRegister(comms[0], aligned, 8, &window, NCCL_WIN_DEFAULT), ncclSuccess);
  EXPECT_EQ(ncclCommWindowDeregister(comms[0], window), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclSuccess);
}

}  // namespace
}  // namespace ringlet::c_api
