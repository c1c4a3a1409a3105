#include "emulate/host/kernels.hpp"

#include <gmock/gmock.h>

namespace ringlet::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void Scale(const ringlet_host_kernel_arguments*) {}
void Other(const ringlet_host_kernel_arguments*) {}

const int kStub = 0, kOtherStub = 0;

TEST(KernelsTest, FindsAFunctionByEachFormOfItsName) {
  for (const char* name : {"_Z5scalePfi", "scale(float*, int)", "scale( float * ,int )", "scale"}) {
    Kernels kernels;
    ASSERT_TRUE(kernels.Register(name, Scale, std::nullopt).ok());
    kernels.Bind(&kStub, "_Z5scalePfi");
    const auto found = kernels.Find(&kStub);
    ASSERT_TRUE(found.ok()) << name << ": " << found.error().message;
    EXPECT_EQ(found->run, Scale);
    EXPECT_EQ(found->name, "_Z5scalePfi");
    EXPECT_THAT(found->parameters, ElementsAre(8, 4));
  }
}

TEST(KernelsTest, DistinguishesNamesThatDifferInOneLetter) {
  Kernels kernels;
  ASSERT_TRUE(kernels.Register("scale(float*, int)", Scale, std::nullopt).ok());
  ASSERT_TRUE(kernels.Register("scale(gloat*, int)", Other, std::nullopt).ok());
  ASSERT_TRUE(kernels.Register("scale(float*, unsigned int)", Other, std::nullopt).ok());
  kernels.Bind(&kStub, "_Z5scalePfi");
  EXPECT_EQ(kernels.Find(&kStub)->run, Scale);
}

TEST(KernelsTest, ALaterRegistrationReplacesAnEarlierOne) {
  Kernels kernels;
  ASSERT_TRUE(kernels.Register("scale", Scale, std::nullopt).ok());
  ASSERT_TRUE(kernels.Register("scale", Other, std::nullopt).ok());
  kernels.Bind(&kStub, "_Z5scalePfi");
  EXPECT_EQ(kernels.Find(&kStub)->run, Other);
}

TEST(KernelsTest, NamesAnUnknownKernelDemangledAndMangled) {
  Kernels kernels;
  kernels.Bind(&kStub, "_Z5scalePfi");
  const auto found = kernels.Find(&kStub);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::kUnsupported);
  EXPECT_THAT(found.error().message, HasSubstr("scale(float*, int)"));
  EXPECT_THAT(found.error().message, HasSubstr("_Z5scalePfi"));
  EXPECT_EQ(kernels.Find(&kOtherStub).error().code, Code::kInvalidArgument);
}

TEST(KernelsTest, AnErrorForAPyTorchKernelRecommendsHostCompute) {
  Kernels kernels;
  kernels.Bind(&kStub, "_ZN2at6native13reduce_kernelEv");
  kernels.Bind(&kOtherStub, "_Z5scalePfi");
  EXPECT_THAT(kernels.Find(&kStub).error().message, HasSubstr("ringlet.torch.HostCompute"));
  EXPECT_THAT(kernels.Find(&kOtherStub).error().message, Not(HasSubstr("HostCompute")));
}

TEST(KernelsTest, AKernelWithoutASignatureNeedsRegisteredSizes) {
  Kernels kernels;
  kernels.Bind(&kStub, "of_c");
  ASSERT_TRUE(kernels.Register("of_c", Scale, std::nullopt).ok());
  EXPECT_THAT(kernels.Find(&kStub).error().message, HasSubstr("ringlet_host_kernel_sized"));
  ASSERT_TRUE(kernels.Register("of_c", Scale, std::vector<std::size_t>{24, 1}).ok());
  EXPECT_THAT(kernels.Find(&kStub)->parameters, ElementsAre(24, 1));
}

TEST(KernelsTest, RefusesInvalidRegistrations) {
  Kernels kernels;
  EXPECT_FALSE(kernels.Register("", Scale, std::nullopt).ok());
  EXPECT_FALSE(kernels.Register("f", nullptr, std::nullopt).ok());
  EXPECT_FALSE(kernels.Register("f", Scale, std::vector<std::size_t>{0}).ok());
  EXPECT_FALSE(kernels.Register("f", Scale, std::vector<std::size_t>(2, 20000)).ok());
  EXPECT_FALSE(kernels.Register("f", Scale, std::vector<std::size_t>(2000, 1)).ok());
}

}  // namespace
}  // namespace ringlet::cuda
