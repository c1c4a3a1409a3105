#include "c_api/handle/guard.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>

// AddressSanitizer allocates its own memory, so a limit of 0 would end the process.
#ifndef __SANITIZE_ADDRESS__
namespace ringlet::c_api {
namespace {

// malloc requests each block of this size from the system.
const std::string kLong(std::size_t{4} << 20, 'x');

[[noreturn]] void ExitWithoutMemory(const std::function<ncclResult_t()>& call) {
  const rlimit none{};
  if (setrlimit(RLIMIT_AS, &none) != 0) _exit(2);
  _exit(call() == ncclSystemError ? 0 : 1);
}

TEST(GuardDeathTest, ReturnsTheCodeOfAnErrorWithoutMemoryForItsMessage) {
  const Error error{Code::kSystem, kLong};
  EXPECT_EXIT(ExitWithoutMemory([&] { return Report("a function", error); }),
              testing::ExitedWithCode(0), "");
}

TEST(GuardDeathTest, ReturnsACodeForAnExceptionWithoutMemoryForItsMessage) {
  const std::runtime_error thrown(kLong);
  EXPECT_EXIT(
      ExitWithoutMemory([&] { return Guard("a function", [&]() -> Status { throw thrown; }); }),
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ringlet::c_api
#endif
