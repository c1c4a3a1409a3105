#include "os/fs/shared_library.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <utility>

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

TEST(SharedLibraryTest, AMissingFunctionIsNull) {
  const SharedLibrary library = SharedLibrary::Open("libm.so.6").value();
  EXPECT_EQ(library.Find<void()>("ringlet_no_such_function"), nullptr);
}

bool IsLoaded(const char* name) {
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

// Libraries of the C library that no test program links.
TEST(SharedLibraryTest, ALibraryIsUnloadedWithItsLastUserUnlessPinned) {
  using Unloading = SharedLibrary::Unloading;
  for (const auto& [name, stay] : {std::pair("libanl.so.1", Unloading::kWhileOpen),
                                   std::pair("libBrokenLocale.so.1", Unloading::kForEver)}) {
    ASSERT_FALSE(IsLoaded(name)) << name;
    if (const auto library = SharedLibrary::Open(name, stay); !library.ok())
      GTEST_SKIP() << library.error().message;
    EXPECT_EQ(IsLoaded(name), stay == Unloading::kForEver) << name;
  }
}

TEST(SharedLibraryTest, NamesAMissingLibrary) {
  const auto library = SharedLibrary::Open("libringlet-no-such.so.7");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, Code::kUnsupported);
  EXPECT_THAT(library.error().message, HasSubstr("libringlet-no-such.so.7"));
}

}  // namespace
}  // namespace ringlet::os
