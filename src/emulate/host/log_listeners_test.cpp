#include "emulate/host/log_listeners.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringlet::cuda {
namespace {

struct Heard {
  LogListeners* listeners = nullptr;
  std::vector<std::string> texts;
};

void Hear(void* data, CudaLogLevel level, char* text, std::size_t length) {
  EXPECT_EQ(level, CudaLogLevel::kError);
  EXPECT_EQ(text[length], '\0');
  static_cast<Heard*>(data)->texts.emplace_back(text, length);
}

void HearAndCall(void* data, CudaLogLevel level, char* text, std::size_t length) {
  Hear(data, level, text, length);
  auto& listeners = *static_cast<Heard*>(data)->listeners;
  EXPECT_FALSE(listeners.any());
  listeners.NotifyListeners(CudaLogLevel::kError, "an error of the callback");
  EXPECT_FALSE(listeners.Remove(nullptr).ok());
}

TEST(LogListenersTest, ReceiveMessagesUntilTheyAreRemoved) {
  LogListeners listeners;
  Heard first, second;
  EXPECT_FALSE(listeners.any());
  void* const one = *listeners.Add(Hear, &first);
  void* const two = *listeners.Add(Hear, &second);
  EXPECT_TRUE(listeners.any());
  listeners.NotifyListeners(CudaLogLevel::kError, "a");
  EXPECT_TRUE(listeners.Remove(one).ok());
  listeners.NotifyListeners(CudaLogLevel::kError, "b");
  EXPECT_FALSE(listeners.Remove(one).ok());
  EXPECT_TRUE(listeners.Remove(two).ok());
  listeners.NotifyListeners(CudaLogLevel::kError, "c");
  EXPECT_EQ(first.texts, (std::vector<std::string>{"a"}));
  EXPECT_EQ(second.texts, (std::vector<std::string>{"a", "b"}));
}

TEST(LogListenersTest, ErrorsInsideAListenerAreNotReported) {
  LogListeners listeners;
  Heard heard{&listeners, {}};
  ASSERT_TRUE(listeners.Add(HearAndCall, &heard).ok());
  listeners.NotifyListeners(CudaLogLevel::kError, "an error");
  EXPECT_EQ(heard.texts, (std::vector<std::string>{"an error"}));
}

TEST(LogListenersTest, RefuseANullFunction) {
  EXPECT_FALSE(LogListeners().Add(nullptr, nullptr).ok());
}

}  // namespace
}  // namespace ringlet::cuda
