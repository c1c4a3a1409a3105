#include "os/shared_library.hpp"

#include <gmock/gmock.h>

namespace ringlet::os {
namespace {

using testing::HasSubstr;

TEST(SharedLibraryTest, FindsAFunctionAndCallsIt) {
  SharedLibrary first = SharedLibrary::Open("libm.so.6").value();
  const SharedLibrary library = std::move(first);
  const auto cosine = library.Find<double(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
}

TEST(SharedLibraryTest, AFunctionThatIsNotThereIsNull) {
  const SharedLibrary library = SharedLibrary::Open("libm.so.6").value();
  EXPECT_EQ(library.Find<void()>("ringlet_no_such_function"), nullptr);
}

TEST(SharedLibraryTest, ALibraryThatIsNotThereIsNamed) {
  const auto library = SharedLibrary::Open("libringlet-no-such.so.7");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, Code::kUnsupported);
  EXPECT_THAT(library.error().message, HasSubstr("libringlet-no-such.so.7"));
}

}  // namespace
}  // namespace ringlet::os
