#include "tool/bench/bench_busy.hpp"

#include <atomic>

namespace ringlet::cli {
namespace {

int ComputeUntilEnded() {
  std::atomic<std::uint64_t> turns{0};
  for (;;) turns.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void AddBenchBusy(CLI::App& bench, Action& chosen) {
  CLI::App* busy = bench.add_subcommand("busy", "Compute until ended");
  busy->group("");
  busy->callback([&chosen] { chosen = [] { return ComputeUntilEnded(); }; });
}

Result<std::vector<os::Child>> StartBusyPrograms(std::uint32_t count) {
  std::vector<os::Child> programs;
  for (std::uint32_t i = 0; i < count; ++i) {
    RINGLET_TRY_ASSIGN(os::Child program,
                       os::Child::Start({{"/proc/self/exe", "bench", "busy"}, {}}));
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace ringlet::cli
