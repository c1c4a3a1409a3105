#include "comm/run/tuned_calls.hpp"

#include <gtest/gtest.h>

#include "comm/backend/backends_for_test.hpp"

namespace ringlet::comm {
namespace {

// plugin/tuner_test.cpp tests the choices of a plug-in.
TEST(TunedCalls, DoNotExistWithoutAPlugin) {
  RunFormed(1, {}, [](std::uint32_t, Communicator& mine) {
    EXPECT_EQ(TunedCalls::Begin(nullptr, mine.origin(), mine.backend()), nullptr);
  });
}

}  // namespace
}  // namespace ringlet::comm
