#include "emulate/host/cuda_code.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace ringlet::cuda {
namespace {

TEST(CudaCodeTest, CodesHaveTheirRuntimeAndDriverNames) {
  EXPECT_STREQ(NameOf(0), "cudaSuccess");
  EXPECT_STREQ(NameOf(2), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(DriverNameOf(2), "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_STREQ(NameOf(98), "cudaErrorInvalidDeviceFunction");
  EXPECT_EQ(DriverNameOf(98), nullptr);
  EXPECT_STREQ(NameOf(static_cast<int>(CudaCode::kCaptureWrongThread)),
               "cudaErrorStreamCaptureWrongThread");
}

TEST(CudaCodeTest, UnknownCodesAreUnrecognized) {
  for (const int code : {-1, 10, 12345}) {
    EXPECT_STREQ(NameOf(code), "unrecognized error code");
    EXPECT_STREQ(TextOf(code), "unrecognized error code");
    EXPECT_EQ(DriverNameOf(code), nullptr);
  }
}

TEST(CudaCodeTest, EachKnownCodeHasADescription) {
  for (int code = 0; code < 1000; ++code) {
    const std::string_view name = NameOf(code);
    if (name == "unrecognized error code") continue;
    EXPECT_NE(std::string_view(TextOf(code)), "") << name;
    EXPECT_TRUE(name.starts_with("cudaError") || name == "cudaSuccess") << name;
  }
}

TEST(CudaCodeTest, MapsRingletErrorsToTheNearestCudaCode) {
  EXPECT_EQ(ToAnswer(Error{Code::kSystem, "full"}).code, CudaCode::kMemoryAllocation);
  EXPECT_EQ(ToAnswer(Error{Code::kUnsupported, ""}).code, CudaCode::kNotSupported);
  EXPECT_EQ(ToAnswer(Error{Code::kInvalidArgument, ""}).code, CudaCode::kInvalidValue);
  const Answer other = ToAnswer(Error{Code::kInvalidArgument, "why"}, CudaCode::kInvalidSymbol);
  EXPECT_EQ(other.code, CudaCode::kInvalidSymbol);
  EXPECT_EQ(other.sentence, "why");
}

}  // namespace
}  // namespace ringlet::cuda
