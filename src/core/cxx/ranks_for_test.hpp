// Ranks of one communicator as threads of the test.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "ringlet/communicator.hpp"

namespace ringlet::cxx {

inline CommunicatorOptions Quiet() {
  return {.init_timeout = std::chrono::seconds(30),
          .timeout = std::chrono::seconds(30),
          .environment = {{"RINGLET_DEBUG", "NONE"}}};
}

inline std::vector<Communicator> AllRanks(std::uint32_t size) {
  auto all = Communicator::CreateAll(size, Quiet());
  EXPECT_TRUE(all.ok()) << all.error().message;
  return std::move(all).value();
}

/// Runs `body` for each rank on its own thread. The thread owns its communicator.
inline void RunRanks(std::vector<Communicator> ranks,
                     const std::function<void(Communicator)>& body) {
  std::vector<std::thread> threads;
  for (Communicator& rank : ranks) threads.emplace_back([&body, &rank] { body(std::move(rank)); });
  for (std::thread& thread : threads) thread.join();
}

inline void RunRanks(std::uint32_t size, const std::function<void(Communicator)>& body) {
  RunRanks(AllRanks(size), body);
}

/// Returns the message of the error, or "ok".
template <typename T>
std::string Said(const Result<T>& result) {
  return result.ok() ? "ok" : result.error().message;
}

/// Checks that the communicator works.
inline void ExpectSum(Communicator& communicator) {
  std::vector<int> data(100, static_cast<int>(Index(communicator.rank())) + 1);
  EXPECT_EQ(Said(communicator.AllReduce(data, data)), "ok");
  const int size = static_cast<int>(communicator.size());
  EXPECT_EQ(data, std::vector<int>(100, size * (size + 1) / 2));
}

}  // namespace ringlet::cxx
