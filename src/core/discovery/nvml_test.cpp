#include "discovery/nvml.hpp"

#include <gmock/gmock.h>

namespace ringlet::discovery {
namespace {

using testing::HasSubstr;

// test/discovery tests the library's answers with a replacement of the same interface.

TEST(NvmlTest, ReportsAMissingLibrary) {
  const auto report = Nvml("libringlet-no-such-nvml.so.1").Read();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kUnsupported);
  EXPECT_THAT(report.error().message, HasSubstr("libringlet-no-such-nvml.so.1"));
}

TEST(NvmlTest, RefusesALibraryWithoutItsFunctions) {
  const auto report = Nvml("libm.so.6").Read();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kUnsupported);
  EXPECT_THAT(report.error().message, HasSubstr("lacks functions"));
}

}  // namespace
}  // namespace ringlet::discovery
