// Communicators with each kind of backend. Threads of the test are their ranks.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {

using CommunicatorBody = std::function<void(std::uint32_t rank, Communicator&)>;

/// Runs `ranks` ranks of one process.
inline void RunFormed(std::uint32_t ranks, const EnvMap& environment,
                      const CommunicatorBody& body) {
  RunRanks(ranks, environment,
           [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
             ASSERT_TRUE(formed.ok()) << formed.error().message;
             body(rank, **formed);
           });
}

/// Runs two ranks on each of two hosts, with shared memory within each.
inline void RunOnTwoHosts(const CommunicatorBody& body) {
  RunRanks(
      4,
      [](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", "host-" + std::to_string(rank / 2)}});
      },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
        ASSERT_TRUE(formed.ok()) << formed.error().message;
        body(rank, **formed);
      });
}

}  // namespace ringlet::comm
