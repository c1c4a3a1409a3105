#include "tool/bench/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <new>

#include "base/value/digest.hpp"
#include "os/clock.hpp"
#include "os/net/poll.hpp"
#include "os/process/limits.hpp"
#include "os/process/thread.hpp"
#include "tool/bench/check_data.hpp"
#include "tool/operation/sweep.hpp"

namespace ringlet::cli {
namespace {

// Keeps the default sweep of 24 sizes in two placements below 20 s on two cores.
constexpr Instant kWarmupBudget = std::chrono::milliseconds(20);
constexpr Instant kBudget = std::chrono::milliseconds(120);
constexpr std::uint32_t kWarmupsMax = 20;
constexpr std::byte kUntouched{0xa5};  // no expected result consists of these bytes

class BenchBuffer {
 public:
  static Result<BenchBuffer> Allocate(std::size_t bytes) {
    Memory memory(new (std::nothrow) std::byte[bytes], std::default_delete<std::byte[]>());
    if (!memory)
      return Error{Code::kSystem, fmt::format("cannot allocate a buffer of {} bytes", bytes),
                   ENOMEM};
    return BenchBuffer(std::move(memory));
  }
  /// Allocates memory that is registered during the lifetime of the buffer.
  static Result<BenchBuffer> Register(const std::shared_ptr<comm::Communicator>& communicator,
                                      std::size_t bytes) {
    const std::shared_ptr<comm::Process> process = communicator->origin().process;
    RINGLET_TRY_ASSIGN(std::byte* const begin, process->heap().Allocate(bytes));
    RINGLET_TRY_ASSIGN(const std::uint64_t handle,
                       communicator->one_sided().Register({begin, bytes}));
    return BenchBuffer(Memory(begin, [process, communicator, handle](std::byte* memory) {
      static_cast<void>(communicator->one_sided().Deregister(handle));
      static_cast<void>(process->heap().Free(memory));
    }));
  }
  std::span<std::byte> First(std::size_t bytes) { return {memory_.get(), bytes}; }

 private:
  using Memory = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;
  explicit BenchBuffer(Memory memory) : memory_(std::move(memory)) {}
  Memory memory_;
};

// The input and the output of one call.
struct Places {
  std::span<std::byte> input, output;
  bool in_place = false;
};

class Bench {
 public:
  Bench(const std::shared_ptr<comm::Communicator>& communicator, const MeasureOptions& options,
        bool shares_cores, BenchBuffer input, BenchBuffer output)
      : communicator_(communicator),
        options_(options),
        operation_(BenchOperationOf(options.kind)),
        data_{options.type, options.op, communicator->identity().size},
        rank_(communicator->identity().rank),
        shares_cores_(shares_cores),
        input_(std::move(input)),
        output_(std::move(output)) {}

  Result<Row> MeasureSize(std::size_t count) {
    call_ = {.kind = options_.kind,
             .count = count,
             .type = options_.type,
             .op = options_.op,
             .root = options_.root};
    Row row{.bytes = SizeElements(operation_, count, data_.ranks) * SizeOf(options_.type),
            .count = count};
    const bool in_place = operation_.in_place && options_.placement != Placement::kOutOfPlace;
    if (!in_place || options_.placement == Placement::kBoth) {
      RINGLET_TRY_ASSIGN(row.out_of_place, Measure(OutOfPlace()));
    }
    if (in_place) {
      RINGLET_TRY_ASSIGN(row.in_place, Measure(InPlace()));
    }
    return row;
  }

 private:
  struct Repeats {
    std::uint32_t iterations = 1, batch = 1;
  };

  std::size_t InputBytes() const { return collective::InputBytes(call_, communicator_->place()); }
  std::size_t OutputBytes() const { return collective::OutputBytes(call_, communicator_->place()); }

  Places OutOfPlace() { return {input_.First(InputBytes()), output_.First(OutputBytes()), false}; }
  // Returns NCCL's places: the smaller buffer lies within the larger one.
  Places InPlace() {
    const std::ptrdiff_t offset =
        InPlaceOffset(call_, rank_) * static_cast<std::ptrdiff_t>(SizeOf(options_.type));
    std::byte* const memory = output_.First(1).data();
    return {{memory + std::max<std::ptrdiff_t>(-offset, 0), InputBytes()},
            {memory + std::max<std::ptrdiff_t>(offset, 0), OutputBytes()},
            true};
  }

  Result<Measurement> Measure(const Places& places) {
    FillInput(data_, rank_, places.input);
    RINGLET_TRY_ASSIGN(const Repeats repeats, WarmUp(places));
    RINGLET_TRY(communicator_->control().Barrier());
    std::vector<Instant> times(repeats.iterations);
    const Instant computed_before = os::ProcessCpuTime();
    for (Instant& time : times) {
      RINGLET_TRY_ASSIGN(time, RunTimes(repeats.batch, places));
    }
    const Instant computed = os::ProcessCpuTime() - computed_before;
    RINGLET_TRY_ASSIGN(const auto by_rank, GatherTimes(times));
    const Timing timing = Summarize(by_rank);
    RINGLET_TRY_ASSIGN(const Instant computed_by_all, SumOfProcesses(computed));
    const double once = 1.0 / repeats.batch;
    Measurement measured{
        .time_us = timing.median_us * once,
        .p99_us = timing.p99_us * once,
        .cpu_us = std::chrono::duration<double, std::micro>(computed_by_all).count() * once /
                  repeats.iterations};
    if (options_.check) {
      RINGLET_TRY_ASSIGN(measured.wrong, Check(places));
    }
    return measured;
  }

  Result<Instant> RunTimes(std::uint32_t times, const Places& places) {
    const Instant begin = os::Now();
    for (std::uint32_t i = 0; i < times; ++i) {
      if (options_.late > Instant(0) && Index(rank_) + 1 == data_.ranks)
        os::PollReadable({}, options_.late);  // no data arrives, so this waits for the delay
      if (options_.changing && !places.input.empty()) Change(places.input);
      RINGLET_TRY(RunOnce(places));
    }
    return os::Now() - begin;
  }

  // Writes the input, as a program does between two operations. Without this, the copying rank
  // would find the data in its cache. The bytes are small numbers in every type.
  void Change(std::span<std::byte> input) {
    changes_ = !changes_;
    std::memset(input.data(), changes_ ? 0x40 : 0x41, input.size());
  }

  Status RunOnce(const Places& places) {
    if (options_.kind == CallKind::kSendReceive) return PassOn(places);
    return communicator_->Run(collective::Call{.kind = options_.kind,
                                               .input = places.input,
                                               .output = places.output,
                                               .count = call_.count,
                                               .type = options_.type,
                                               .op = options_.op,
                                               .root = options_.root});
  }

  Status PassOn(const Places& places) {
    const std::uint32_t ranks = data_.ranks, self = Index(rank_);
    const comm::Transfer sent{.peer = Rank{(self + 1) % ranks},
                              .sends = true,
                              .from = places.input,
                              .count = call_.count,
                              .type = options_.type};
    const comm::Transfer received{.peer = Rank{(self + ranks - 1) % ranks},
                                  .to = places.output,
                                  .count = call_.count,
                                  .type = options_.type};
    const std::array both = {sent, received};
    return communicator_->Run(both);
  }

  // Runs until caches, pages and connections are warm, and selects the number of repeats. Uses the
  // slowest rank's time, so that all ranks agree. The programs of bench/peers do the same (loop.h).
  Result<Repeats> WarmUp(const Places& places) {
    std::uint32_t warmups = options_.warmup.value_or(1);
    RINGLET_TRY_ASSIGN(Instant latest, RunTimes(warmups, places));
    if (!options_.warmup) {
      RINGLET_TRY_ASSIGN(const Instant first, Slowest(latest));
      warmups = std::min(RepeatsFor(first, kWarmupBudget), kWarmupsMax);
      RINGLET_TRY_ASSIGN(latest, RunTimes(warmups, places));
    }
    RINGLET_TRY_ASSIGN(const Instant all, Slowest(latest));
    const Instant once = all / std::max(warmups, 1u);
    if (options_.iterations) return Repeats{.iterations = *options_.iterations};
    const std::uint32_t batch = warmups == 0 ? 1 : BatchFor(once, shares_cores_);
    return Repeats{.iterations = RepeatsFor(once * batch, kBudget), .batch = batch};
  }

  Result<Instant> Slowest(Instant mine) {
    RINGLET_TRY_ASSIGN(const auto by_rank, GatherTimes({mine}));
    return std::ranges::max(by_rank).front();
  }

  Result<Instant> SumOfProcesses(Instant mine) {
    RINGLET_TRY_ASSIGN(const auto by_rank, GatherTimes({mine}));
    if (options_.threads) return by_rank.front().front();  // this is the time of the one process
    Instant sum{0};
    for (const auto& one : by_rank) sum += one.front();
    return sum;
  }

  // Uses the control network, so that the measured links do not carry the times.
  Result<std::vector<std::vector<Instant>>> GatherTimes(const std::vector<Instant>& mine) {
    Writer out;
    for (const Instant time : mine) out.U64(static_cast<std::uint64_t>(time.count()));
    RINGLET_TRY_ASSIGN(const auto table, communicator_->control().AllGather(out.Take()));
    std::vector<std::vector<Instant>> by_rank(data_.ranks, std::vector<Instant>(mine.size()));
    for (std::uint32_t rank = 0; rank < data_.ranks; ++rank) {
      Reader in(table.At(Rank{rank}));
      for (Instant& time : by_rank[rank]) time = Instant(in.U64());
      if (!in.AtEnd())
        return Error{Code::kProtocol, fmt::format("rank {} and rank {} ran different numbers of "
                                                  "iterations; give all ranks the same options",
                                                  rank, Index(rank_))};
    }
    return by_rank;
  }

  // Runs once more on fresh data. Returns the wrong elements of all ranks. If all outputs must be
  // equal but differ, although each one passes, the check itself is broken, which counts as well.
  Result<std::uint64_t> Check(const Places& places) {
    std::memset(places.output.data(), std::to_integer<int>(kUntouched), places.output.size());
    FillInput(data_, rank_, places.input);
    RINGLET_TRY(RunOnce(places));
    std::uint64_t wrong = CountWrong(data_, call_, rank_, places.output);
    if (!places.in_place) wrong += CountWrongInput(data_, rank_, places.input);
    Writer out;
    out.U64(wrong).U64(DigestOf(places.output));
    RINGLET_TRY_ASSIGN(const auto table, communicator_->control().AllGather(out.Take()));
    std::uint64_t total = 0;
    std::map<std::uint64_t, std::uint32_t> digests;
    for (std::uint32_t rank = 0; rank < data_.ranks; ++rank) {
      Reader in(table.At(Rank{rank}));
      total += in.U64();
      ++digests[in.U64()];
    }
    const bool same_on_all = options_.kind == CallKind::kAllReduce ||
                             options_.kind == CallKind::kBroadcast ||
                             options_.kind == CallKind::kAllGather;
    return same_on_all ? std::max<std::uint64_t>(total, digests.size() - 1) : total;
  }

  std::shared_ptr<comm::Communicator> communicator_;
  const MeasureOptions& options_;
  const BenchOperation& operation_;
  CheckShape data_;
  collective::Call call_;  // without buffers
  Rank rank_;
  bool shares_cores_;
  bool changes_ = false;
  BenchBuffer input_, output_;
};

// Returns the bytes that hold the input, and the output, of a call of any rank.
std::size_t BytesFor(const MeasureOptions& options, std::uint32_t ranks) {
  const std::size_t count = std::ranges::max(options.counts);
  const std::size_t elements = SizeElements(BenchOperationOf(options.kind), count, ranks);
  return std::max<std::size_t>(elements * SizeOf(options.type), 1);
}

// Returns "2 shm", "host memory", or "host memory, 1 tcp".
std::string LinksOf(comm::Communicator& communicator) {
  const std::string links = communicator.links().Summary();
  if (communicator.host_memory().shared_bytes() == 0) return links;
  return links == "none" ? "host memory" : "host memory, " + links;
}

// Returns "2 shm", or if ranks differ "rank 0,2: 2 shm; rank 1: 1 shm, 1 tcp".
Result<std::string> LinksOfAll(comm::Communicator& communicator) {
  Writer out;
  out.Raw(AsView(LinksOf(communicator)));
  RINGLET_TRY_ASSIGN(const auto table, communicator.control().AllGather(out.Take()));
  std::map<std::string, std::vector<std::uint32_t>> ranks;
  for (std::uint32_t rank = 0; rank < communicator.identity().size; ++rank)
    ranks[std::string(AsText(table.At(Rank{rank})))].push_back(rank);
  if (ranks.size() == 1) return ranks.begin()->first;
  std::string text;
  for (const auto& [links, members] : ranks)
    text += fmt::format("{}rank {}: {}", text.empty() ? "" : "; ", bootstrap::RangesText(members),
                        links);
  return text;
}

// Binds only the measuring thread. The usable cores of the process were counted before.
void BindRank(const comm::Config& config) {
  const std::vector<std::uint32_t> cpus = os::UsableCpus();
  if (config.size > cpus.size()) return;
  const CpuRange own{cpus[config.rank], cpus[config.rank]};
  static_cast<void>(os::RunOn({&own, 1}));  // if this fails, the thread runs on any core
}

Status MeasureAll(const std::shared_ptr<comm::Communicator>& communicator,
                  const MeasureOptions& options, bool shares_cores, const OnMessage& on_message) {
  const bool reports = communicator->identity().rank == Rank{0};
  RINGLET_TRY_ASSIGN(std::string links, LinksOfAll(*communicator));
  if (reports) on_message(Formed{std::move(links)});
  const std::size_t bytes = BytesFor(options, communicator->identity().size);
  const auto allocate = [&] {
    return options.registered ? BenchBuffer::Register(communicator, bytes)
                              : BenchBuffer::Allocate(bytes);
  };
  RINGLET_TRY_ASSIGN(BenchBuffer input, allocate());
  RINGLET_TRY_ASSIGN(BenchBuffer output, allocate());
  Bench bench(communicator, options, shares_cores, std::move(input), std::move(output));
  for (const std::size_t count : options.counts) {
    RINGLET_TRY_ASSIGN(const Row row, bench.MeasureSize(count));
    if (reports) on_message(row);
  }
  return communicator->control().Barrier();  // keeps each rank alive until all have finished
}

}  // namespace

Status MeasureRank(const std::shared_ptr<comm::Process>& process, const comm::Config& config,
                   const MeasureOptions& options, const OnMessage& on_message,
                   const std::stop_token& abort) {
  const bool shares_cores = config.size > os::UsableCores();
  if (options.bound) BindRank(config);
  RINGLET_TRY_ASSIGN(std::shared_ptr<comm::Communicator> communicator,
                     comm::Establish(process, config, abort));
  const Status status = MeasureAll(communicator, options, shares_cores, on_message);
  if (!status.ok()) communicator->Abort(status.error().message);
  return status;
}

}  // namespace ringlet::cli
