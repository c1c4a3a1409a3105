// Several ranks of one communicator as threads of the test. Each has its own process, unless they
// are to share one.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "comm/establish/establish.hpp"
#include "comm/run/calls.hpp"

namespace ringlet::comm {

inline std::shared_ptr<Process> ProcessWith(EnvMap environment) {
  environment.try_emplace("RINGLET_DEBUG", "NONE");
  environment.try_emplace("RINGLET_INIT_TIMEOUT", "30");
  auto process = Process::Start(environment);
  EXPECT_TRUE(process.ok()) << process.error().message;
  return std::move(process).value();
}

using RankBody = std::function<void(std::uint32_t rank, Result<std::unique_ptr<Communicator>>)>;

/// Forms a communicator of `size` ranks, each on a thread. Runs `body` on each after all have
/// formed theirs, because a rank that dies or leaves earlier fails the others.
/// \param as  further options of all ranks; with names_device all name `as.device`
inline void RunRanks(std::uint32_t size,
                     const std::function<std::shared_ptr<Process>(std::uint32_t)>& process_of,
                     const RankBody& body, const Config& as = {}) {
  const auto first = process_of(0);
  const Result<UniqueId> id = CreateUniqueId(first);
  ASSERT_TRUE(id.ok()) << id.error().message;
  std::latch formed(size);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      const auto process = rank == 0 ? first : process_of(rank);
      Config config = as;
      config.id = *id;
      config.rank = rank;
      config.size = size;
      if (!as.names_device) config.device = rank;
      auto communicator = Establish(process, config, {});
      formed.arrive_and_wait();
      body(rank, std::move(communicator));
    });
  for (std::thread& thread : threads) thread.join();
}

/// Runs all ranks in one process, with these settings.
inline void RunRanks(std::uint32_t size, const EnvMap& environment, const RankBody& body) {
  const auto process = ProcessWith(environment);
  RunRanks(
      size, [&](std::uint32_t) { return process; }, body);
}

/// Runs and checks an all-reduce of `count` floats. Returns the first error.
inline Status SumOfRanks(Communicator& communicator, std::size_t count) {
  const std::uint32_t size = communicator.identity().size;
  std::vector<float> in(count, static_cast<float>(Index(communicator.identity().rank) + 1)),
      out(count);
  RINGLET_TRY(AllReduce(communicator, {.input = std::as_bytes(std::span(in)),
                                       .output = std::as_writable_bytes(std::span(out)),
                                       .count = count}));
  for (const float value : out)
    if (value != static_cast<float>(size * (size + 1) / 2))
      return Error{Code::kProtocol, "a wrong sum"};
  return Ok();
}

}  // namespace ringlet::comm
