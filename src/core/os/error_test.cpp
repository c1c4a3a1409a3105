#include "os/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace ringlet::os {
namespace {

TEST(SystemError, StatesTextNameAndNumber) {
  EXPECT_EQ(ErrnoText(ECONNREFUSED), "connection refused (ECONNREFUSED 111)");
  EXPECT_EQ(ErrnoText(99999), "unknown error (errno 99999)");
  const Error error = SystemError("cannot bind 10.0.0.5:7", EADDRINUSE);
  EXPECT_EQ(error.code, Code::kSystem);
  EXPECT_EQ(error.os_errno, EADDRINUSE);
  EXPECT_EQ(error.message, "cannot bind 10.0.0.5:7: address already in use (EADDRINUSE 98)");
}

}  // namespace
}  // namespace ringlet::os
