// Measures collectives among processes of one host, through the shared arena alone.
//
//   ringlet_host_bench OPERATION RANKS BYTES...
//
// The program forks the processes after it has created the arena. For each size it runs some
// unmeasured turns, then batches, and prints "BYTES MICROSECONDS": the median over batches of the
// time per operation on rank 0. Elements are floats. BYTES is the size of one rank's contribution
// (all_reduce, broadcast, all_gather), its result (reduce_scatter), or its block for another rank
// (all_to_all). It checks results once per size. With REGISTERED=1 in the environment the buffers
// are registered; with 2 the output is also the input.
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collective/call/run.hpp"
#include "collective/select/select.hpp"
#include "collective/shm/shm_collective.hpp"

namespace {

using namespace std::literals;
using ringlet::collective::Call;
using ringlet::collective::CallKind;
using ringlet::collective::ShmCollective;

double NowUs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

std::size_t FromEnvironment(const char* name, std::size_t otherwise) {
  const char* const text = ::getenv(name);
  return text ? static_cast<std::size_t>(::atoll(text)) : otherwise;
}

CallKind OperationNamed(const std::string& name) {
  if (const auto kind = ringlet::collective::CallKindNamed(name)) return *kind;
  std::fprintf(stderr, "no operation is called %s\n", name.c_str());
  std::exit(2);
}

struct Bench {
  std::shared_ptr<ringlet::transport::Arena> arena;
  CallKind operation;
  std::uint32_t ranks, self;
  std::vector<std::size_t> sizes;
};

void Run(ShmCollective& engine, const ringlet::collective::ScoreTable& scores, const Call& call) {
  const static ringlet::collective::RunPolicy policy{.check = [] { return ringlet::Ok(); }};
  static std::uint64_t begun = 0;
  engine.Start(call, scores.For(call.kind, BlockBytes(call)), begun++);
  const auto status = RunToEnd(engine, *engine.place()->waiter, policy);
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::_Exit(1);
}

// Gives each rank a core, as mpirun does, if there are enough. The comparison excludes the kernel's
// placement of forked processes in their first milliseconds.
void Pin(const Bench& bench, std::uint32_t cores) {
  if (bench.ranks > cores) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(bench.self, &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

int RunRank(const Bench& bench) {
  const auto cores = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  Pin(bench, cores);
  ringlet::collective::ShmOptions options;
  ringlet::collective::ShmThresholds thresholds;
  thresholds.one_shot_max = FromEnvironment("ONE_SHOT", thresholds.one_shot_max);
  options.stream_bytes_min = FromEnvironment("STREAM", options.stream_bytes_min);
  using ringlet::collective::WaitPolicy;
  WaitPolicy timeout = bench.ranks <= cores ? WaitPolicy::WithCores() : WaitPolicy::Sharing();
  timeout.looks = static_cast<std::uint32_t>(FromEnvironment("LOOKS", timeout.looks));
  timeout.yields = static_cast<std::uint32_t>(FromEnvironment("YIELDS", timeout.yields));
  thresholds.zero_copy_min = FromEnvironment("DIRECT", thresholds.zero_copy_min);
  const std::size_t registered = FromEnvironment("REGISTERED", 0);
  const ringlet::collective::HostReach reach{
      .shared = std::make_shared<ringlet::transport::SharedBuffers>(),
      .near = std::make_shared<ringlet::collective::InProcessBuffers>(bench.ranks),
      .is_near = std::vector<bool>(bench.ranks, false)};
  reach.shared->Publish(bench.arena, bench.self);
  ShmCollective engine(bench.arena, bench.self, timeout, options, reach);
  const auto groups = ringlet::collective::EvenGroups(bench.ranks, 1);
  const ringlet::collective::Layout layout{.order = ringlet::collective::InOrder(groups),
                                           .groups = groups,
                                           .post_bytes = bench.arena->shape().slot_bytes};
  const ringlet::collective::ScoreTable scores(layout, {.shm = thresholds});
  bench.arena->PrefaultPosts(bench.self);
  for (const std::size_t bytes : bench.sizes) {
    Call call{.kind = bench.operation, .count = bytes / 4, .type = ringlet::DataType::kFloat32};
    if (call.kind == CallKind::kBarrier) call.count = 0;
    const ringlet::collective::CallPlace place{ringlet::Rank{bench.self}, bench.ranks};
    const std::size_t in = InputBytes(call, place), out = OutputBytes(call, place);
    std::vector<float> unregistered((in + out) / 4 + 1);
    float* input = unregistered.data();
    std::shared_ptr<const ringlet::os::Shm> memory;
    std::uint64_t handle = 0;
    if (registered > 0) {
      auto shm = ringlet::os::Shm::Create(in + out + 4);
      if (!shm.ok() || !shm->Fill().ok()) return 1;
      memory = std::make_shared<ringlet::os::Shm>(std::move(shm).value());
      handle = reach.shared->Register(memory->bytes(), memory).value();
      input = reinterpret_cast<float*>(memory->bytes().data());
    }
    float* const output = registered == 2 ? input : input + in / 4;
    std::fill(input, input + in / 4, 1.0f + static_cast<float>(bench.self));
    call.input = std::as_bytes(std::span(input, in / 4));
    call.output = std::as_writable_bytes(std::span(output, out / 4));
    const std::size_t batch = std::clamp<std::size_t>((256 << 10) / (bytes + 64), 1, 200);
    const std::size_t batches = bytes >= (16u << 20) ? 7 : 41;
    std::vector<double> times;
    for (std::size_t b = 0; b < batches + 3; ++b) {
      Run(engine, scores, {.kind = CallKind::kBarrier});
      const double begin = NowUs();
      for (std::size_t i = 0; i < batch; ++i) Run(engine, scores, call);
      if (b >= 3) times.push_back((NowUs() - begin) / static_cast<double>(batch));
    }
    const auto all = static_cast<float>(bench.ranks * (bench.ranks + 1) / 2);
    if (bench.operation == CallKind::kAllReduce && registered != 2)
      for (std::size_t i = 0; i < bytes / 4; ++i)
        if (output[i] != all) {
          std::fprintf(stderr, "wrong: %zu bytes, element %zu is %g\n", bytes, i,
                       static_cast<double>(output[i]));
          return 1;
        }
    if (registered > 0 && !reach.shared->Deregister(handle).ok()) return 1;
    std::sort(times.begin(), times.end());
    if (bench.self == 0) std::printf("%zu %.3f\n", bytes, times[times.size() / 2]);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 4) return 2;
  Bench bench{.arena = {},
              .operation = OperationNamed(arguments[1]),
              .ranks = static_cast<std::uint32_t>(::atoi(arguments[2])),
              .self = 0,
              .sizes = {}};
  for (int i = 3; i < argument_count; ++i)
    bench.sizes.push_back(static_cast<std::size_t>(::atoll(arguments[i])));
  auto arena = ringlet::transport::Arena::Create(
      {.ranks = bench.ranks, .stage_bytes = FromEnvironment("STAGE", 256 << 10)});
  if (!arena.ok()) return 1;
  bench.arena = *arena;
  std::vector<pid_t> children;
  for (std::uint32_t rank = 1; rank < bench.ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      bench.self = rank;
      std::_Exit(RunRank(bench));
    }
    children.push_back(child);
  }
  int failed = RunRank(bench);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failed |= status;
  }
  return failed == 0 ? 0 : 1;
}
