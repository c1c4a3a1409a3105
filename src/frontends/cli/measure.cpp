#include "frontends/cli/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>

#include "base/digest.hpp"
#include "frontends/cli/check_data.hpp"
#include "frontends/cli/sweep.hpp"
#include "os/clock.hpp"

namespace ringlet::cli {
namespace {

// With 24 sizes in two placements the default sweep stays below 20 s on two cores.
constexpr Instant kWarmupBudget = std::chrono::milliseconds(20);
constexpr Instant kBudget = std::chrono::milliseconds(120);
constexpr std::uint32_t kWarmupsMax = 20;
constexpr std::byte kUntouched{0xa5};  // no expected result consists of these

class Buffer {
 public:
  static Result<Buffer> Allocate(std::size_t bytes) {
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes]);
    if (!memory)
      return Error{Code::kSystem, fmt::format("there is no memory for a buffer of {} bytes", bytes),
                   ENOMEM};
    return Buffer(std::move(memory));
  }
  std::span<std::byte> First(std::size_t bytes) { return {memory_.get(), bytes}; }

 private:
  explicit Buffer(std::unique_ptr<std::byte[]> memory) : memory_(std::move(memory)) {}
  std::unique_ptr<std::byte[]> memory_;
};

class Bench {
 public:
  Bench(comm::Communicator& communicator, const MeasureOptions& options, Buffer input,
        Buffer output)
      : communicator_(communicator),
        options_(options),
        shape_{options.type, options.op, communicator.identity().size},
        rank_(communicator.identity().rank),
        input_(std::move(input)),
        output_(std::move(output)) {}

  Result<Row> MeasureSize(std::size_t count) {
    Row row{
        .bytes = count * SizeOf(options_.type), .count = count, .out_of_place = {}, .in_place = {}};
    const std::span<std::byte> input = input_.First(row.bytes), output = output_.First(row.bytes);
    RINGLET_TRY_ASSIGN(row.out_of_place, Measure(input, output));
    RINGLET_TRY_ASSIGN(row.in_place, Measure(output, output));
    return row;
  }

 private:
  using Area = std::span<std::byte>;

  Result<Measurement> Measure(Area input, Area output) {
    FillInput(shape_, rank_, input);
    RINGLET_TRY_ASSIGN(const std::uint32_t iterations, WarmUp(input, output));
    RINGLET_TRY(communicator_.control().Barrier());
    std::vector<Instant> times(iterations);
    for (Instant& time : times) {
      RINGLET_TRY_ASSIGN(time, RunOnce(input, output));
    }
    RINGLET_TRY_ASSIGN(const auto by_rank, GatherTimes(times));
    const Timing timing = Summarize(by_rank);
    Measurement measured{timing.median_us, timing.p99_us, std::nullopt};
    if (options_.check) {
      RINGLET_TRY_ASSIGN(measured.wrong, Check(input, output));
    }
    return measured;
  }

  Result<Instant> RunOnce(Area input, Area output) {
    const Instant begin = os::Now();
    RINGLET_TRY(communicator_.AllReduce({.input = input,
                                         .output = output,
                                         .count = input.size() / SizeOf(options_.type),
                                         .type = options_.type,
                                         .op = options_.op}));
    return os::Now() - begin;
  }

  // Runs until caches, pages and connections are warm; decides how many iterations follow. Both
  // numbers come from the slowest rank's time, so that they are the same on all ranks.
  Result<std::uint32_t> WarmUp(Area input, Area output) {
    Instant latest{0};
    const auto run = [&](std::uint32_t times) -> Status {
      for (std::uint32_t i = 0; i < times; ++i) {
        RINGLET_TRY_ASSIGN(latest, RunOnce(input, output));
      }
      return Ok();
    };
    if (options_.warmup) {
      RINGLET_TRY(run(*options_.warmup));
    } else {
      RINGLET_TRY(run(1));
      RINGLET_TRY_ASSIGN(const Instant first, Slowest(latest));
      RINGLET_TRY(run(std::min(RepeatsFor(first, kWarmupBudget), kWarmupsMax)));
    }
    if (options_.iterations) return *options_.iterations;
    RINGLET_TRY_ASSIGN(const Instant once, Slowest(latest));
    return RepeatsFor(once, kBudget);
  }

  Result<Instant> Slowest(Instant mine) {
    RINGLET_TRY_ASSIGN(const auto by_rank, GatherTimes({mine}));
    return std::ranges::max(by_rank).front();
  }

  // By the control network: what is measured must not carry its own measurement.
  Result<std::vector<std::vector<Instant>>> GatherTimes(const std::vector<Instant>& mine) {
    Writer out;
    for (const Instant time : mine) out.U64(static_cast<std::uint64_t>(time.count()));
    RINGLET_TRY_ASSIGN(const auto table, communicator_.control().AllGather(out.Take()));
    std::vector<std::vector<Instant>> by_rank(shape_.ranks, std::vector<Instant>(mine.size()));
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
      Reader in(table.At(Rank{rank}));
      for (Instant& time : by_rank[rank]) time = Instant(in.U64());
      if (!in.AtEnd())
        return Error{Code::kProtocol,
                     fmt::format("rank {} ran another number of iterations than rank {}; give all "
                                 "the same options",
                                 rank, Index(rank_))};
    }
    return by_rank;
  }

  // One more run on fresh data. Gives the wrong elements of all ranks; where ranks disagree
  // although each finds its own right, it is this check that is broken, and that counts as well.
  Result<std::uint64_t> Check(Area input, Area output) {
    const bool in_place = input.data() == output.data();
    if (!in_place) std::memset(output.data(), std::to_integer<int>(kUntouched), output.size());
    FillInput(shape_, rank_, input);
    RINGLET_TRY(RunOnce(input, output));
    std::uint64_t wrong = CountWrongOutput(shape_, output);
    if (!in_place) wrong += CountWrongInput(shape_, rank_, input);
    Writer out;
    out.U64(wrong).U64(DigestOf(output));
    RINGLET_TRY_ASSIGN(const auto table, communicator_.control().AllGather(out.Take()));
    std::uint64_t total = 0;
    std::map<std::uint64_t, std::uint32_t> digests;
    for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
      Reader in(table.At(Rank{rank}));
      total += in.U64();
      ++digests[in.U64()];
    }
    return std::max<std::uint64_t>(total, digests.size() - 1);
  }

  comm::Communicator& communicator_;
  const MeasureOptions& options_;
  CheckShape shape_;
  Rank rank_;
  Buffer input_, output_;
};

// "2 shm", or where ranks differ "rank 0,2: 2 shm; rank 1: 1 shm, 1 tcp".
Result<std::string> LinksOfAll(comm::Communicator& communicator) {
  Writer out;
  out.Raw(AsView(communicator.links().Summary()));
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

Status MeasureAll(comm::Communicator& communicator, const MeasureOptions& options,
                  const OnMessage& on_message) {
  const bool reports = communicator.identity().rank == Rank{0};
  RINGLET_TRY_ASSIGN(std::string links, LinksOfAll(communicator));
  if (reports) on_message(Formed{std::move(links)});
  const std::size_t bytes = std::ranges::max(options.counts) * SizeOf(options.type);
  RINGLET_TRY_ASSIGN(Buffer input, Buffer::Allocate(bytes));
  RINGLET_TRY_ASSIGN(Buffer output, Buffer::Allocate(bytes));
  Bench bench(communicator, options, std::move(input), std::move(output));
  for (const std::size_t count : options.counts) {
    RINGLET_TRY_ASSIGN(const Row row, bench.MeasureSize(count));
    if (reports) on_message(row);
  }
  return communicator.control().Barrier();  // nobody leaves while another still works
}

}  // namespace

Status MeasureRank(const std::shared_ptr<comm::Process>& process, const comm::Config& config,
                   const MeasureOptions& options, const OnMessage& on_message,
                   const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(const auto communicator, comm::Establish(process, config, abort));
  const Status status = MeasureAll(*communicator, options, on_message);
  if (!status.ok()) communicator->Abort(status.error().message);
  return status;
}

}  // namespace ringlet::cli
