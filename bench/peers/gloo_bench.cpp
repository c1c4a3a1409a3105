// Runs collective operations of Gloo for `ringlet bench OPERATION --vs gloo`:
//
//   ringlet_bench_gloo RANKS OPERATION TYPE REDUCTION ROOT in|out WARMUPS ITERATIONS COUNT...
//
// The ranks are forked processes over loopback. With RANK,RANKS,ADDRESS,FOLDER in place of RANKS
// this process is one rank, at that address, and FOLDER holds the rendezvous. COUNT is the count of
// the call: a rank's input for all_gather, its output for reduce_scatter. WARMUPS and ITERATIONS
// are numbers or "adapted". Prints a line per count: "COUNT MEDIAN P99 CPU", in microseconds. CPU
// is the time of all ranks for one operation. For all_reduce the fastest algorithm of each count is
// reported.
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/config.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "loop.h"

namespace {

using ContextPtr = std::shared_ptr<gloo::Context>;
using Run = std::function<void()>;

struct Request {
  std::string operation, type, reduction;
  int root = 0;
  bool in_place = false;
  LoopOptions options{};
  std::vector<std::size_t> counts;
};

// Gloo's functions have overloads. This type selects the untyped one.
using Function = void (*)(void*, const void*, const void*, std::size_t);

template <typename T>
struct Reduction {
  Function function;
  const gloo::ReductionFunction<T>* whole;
};

template <typename T>
Reduction<T> ReductionNamed(const std::string& name) {
  if (name == "sum") return {gloo::sum<T>, gloo::ReductionFunction<T>::sum};
  if (name == "prod") return {gloo::product<T>, gloo::ReductionFunction<T>::product};
  if (name == "min") return {gloo::min<T>, gloo::ReductionFunction<T>::min};
  if (name == "max") return {gloo::max<T>, gloo::ReductionFunction<T>::max};
  throw std::runtime_error("Gloo has no reduction " + name);
}

// One operation of one count, with its buffers.
template <typename T>
class Operation {
 public:
  Operation(const ContextPtr& context, const Request& request, std::size_t count)
      : context_(context),
        request_(request),
        reduction_(ReductionNamed<T>(request.reduction)),
        count_(count),
        ranks_(static_cast<std::size_t>(context->size)),
        output_(Elements()),
        input_(request.in_place ? 0 : Elements()),
        in_(request.in_place ? output_.data() : input_.data()),
        out_(output_.data()) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Returns the available algorithms.
  std::vector<Run> Ways() {
    const std::string& name = request_.operation;
    if (name == "all_reduce") return AllReduceWays();
    if (name == "reduce_scatter") return {ReduceScatterWay()};
    if (name == "send_receive") return {SendReceiveWay()};
    const std::map<std::string, void (Operation::*)()> others = {
        {"all_gather", &Operation::AllGather}, {"broadcast", &Operation::Broadcast},
        {"reduce", &Operation::Reduce},        {"all_to_all", &Operation::AllToAll},
        {"gather", &Operation::Gather},        {"scatter", &Operation::Scatter},
        {"barrier", &Operation::Barrier}};
    const auto found = others.find(name);
    if (found == others.end()) throw std::runtime_error("Gloo has no operation " + name);
    return {[this, way = found->second] { (this->*way)(); }};
  }

 private:
  std::size_t Elements() const {
    const std::string_view divided = " all_gather reduce_scatter all_to_all gather scatter ";
    const bool blocks = divided.find(" " + request_.operation + " ") != std::string_view::npos;
    return (blocks ? count_ * ranks_ : count_) + 1;
  }
  bool IsRoot() const { return context_->rank == request_.root; }

  void AllReduceBy(gloo::AllreduceOptions::Algorithm algorithm) {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(algorithm);
    if (!request_.in_place) options.setInput(in_, count_);
    options.setOutput(out_, count_);
    options.setReduceFunction(reduction_.function);
    gloo::allreduce(options);
  }

  std::vector<Run> AllReduceWays() {
    using Way = gloo::AllreduceOptions::Algorithm;
    // This algorithm keeps its buffers and works in place.
    auto halving = std::make_shared<gloo::AllreduceHalvingDoubling<T>>(
        context_, std::vector<T*>{out_}, static_cast<int>(count_), reduction_.whole);
    return {[this] { AllReduceBy(Way::RING); }, [this] { AllReduceBy(Way::BCUBE); },
            [this, halving] {
              if (!request_.in_place) ::memcpy(out_, in_, count_ * sizeof(T));
              halving->run();
            }};
  }

  // Runs in place, because Gloo's algorithm destroys its input.
  Run ReduceScatterWay() {
    const std::vector<int> counts(ranks_, static_cast<int>(count_));
    auto halving = std::make_shared<gloo::ReduceScatterHalvingDoubling<T>>(
        context_, std::vector<T*>{out_}, static_cast<int>(count_ * ranks_), counts,
        reduction_.whole);
    return [halving] { halving->run(); };
  }

  Run SendReceiveWay() {
    const int size = context_->size, next = (context_->rank + 1) % size,
              last = (context_->rank + size - 1) % size;
    std::shared_ptr<gloo::transport::UnboundBuffer> sent =
        context_->createUnboundBuffer(in_, count_ * sizeof(T));
    std::shared_ptr<gloo::transport::UnboundBuffer> received =
        context_->createUnboundBuffer(out_, count_ * sizeof(T));
    return [=] {
      constexpr std::uint64_t kSlot = 77;
      received->recv(last, kSlot);
      sent->send(next, kSlot);
      received->waitRecv();
      sent->waitSend();
    };
  }

  void AllGather() {
    gloo::AllgatherOptions options(context_);
    if (!request_.in_place) options.setInput(in_, count_);
    options.setOutput(out_, count_ * ranks_);
    gloo::allgather(options);
  }

  void Broadcast() {
    gloo::BroadcastOptions options(context_);
    options.setRoot(request_.root);
    if (IsRoot() && !request_.in_place) options.setInput(in_, count_);
    options.setOutput(out_, count_);
    gloo::broadcast(options);
  }

  void Reduce() {
    gloo::ReduceOptions options(context_);
    options.setRoot(request_.root);
    if (!request_.in_place) options.setInput(in_, count_);
    options.setOutput(out_, count_);
    options.setReduceFunction(reduction_.function);
    gloo::reduce(options);
  }

  void AllToAll() {
    gloo::AlltoallOptions options(context_);
    options.setInput(in_, count_ * ranks_);
    options.setOutput(out_, count_ * ranks_);
    gloo::alltoall(options);
  }

  void Gather() {
    gloo::GatherOptions options(context_);
    options.setRoot(request_.root);
    options.setInput(in_, count_);
    if (IsRoot()) options.setOutput(out_, count_ * ranks_);
    gloo::gather(options);
  }

  void Scatter() {
    gloo::ScatterOptions options(context_);
    options.setRoot(request_.root);
    if (IsRoot()) {
      std::vector<T*> blocks;
      for (std::size_t i = 0; i < ranks_; ++i) blocks.push_back(in_ + i * count_);
      options.setInputs(blocks, count_);
    }
    options.setOutput(out_, count_);
    gloo::scatter(options);
  }

  void Barrier() {
    gloo::BarrierOptions options(context_);
    gloo::barrier(options);
  }

  ContextPtr context_;
  const Request& request_;
  Reduction<T> reduction_;
  std::size_t count_, ranks_;
  std::vector<T> output_, input_;
  T *in_, *out_;
};

// ---- The interface of the loop.

struct Running {
  ContextPtr context;
  Run run;
};

Running& RunningIn(void* context) {
  return *static_cast<Running*>(context);
}

void Combine(const ContextPtr& context, double* numbers, int count, Function function) {
  gloo::AllreduceOptions options(context);
  options.setOutput(numbers, static_cast<std::size_t>(count));
  options.setReduceFunction(function);
  gloo::allreduce(options);
}

Library LibraryFor(Running& running) {
  return {&running,
          [](void* c) { RunningIn(c).run(); },
          [](void* c) {
            gloo::BarrierOptions options(RunningIn(c).context);
            gloo::barrier(options);
          },
          [](void* c, double* numbers, int count) {
            Combine(RunningIn(c).context, numbers, count, gloo::max<double>);
          },
          [](void* c, double number) {
            Combine(RunningIn(c).context, &number, 1, gloo::sum<double>);
            return number;
          },
          nullptr,
          0};  // its input is unchanged
}

template <typename T>
void MeasureAll(const ContextPtr& context, const Request& request) {
  for (const std::size_t count : request.counts) {
    Operation<T> operation(context, request, count);
    std::optional<Measured> best;
    for (const Run& run : operation.Ways()) {
      Running running{context, run};
      const Library library = LibraryFor(running);
      const Measured measured = Measure(&library, request.options);
      if (!best || measured.median_us < best->median_us) best = measured;
    }
    if (context->rank == 0) Print(count, *best);
  }
}

void MeasureType(const ContextPtr& context, const Request& request) {
  if (request.type == "float") return MeasureAll<float>(context, request);
  if (request.type == "double") return MeasureAll<double>(context, request);
  if (request.type == "int32") return MeasureAll<std::int32_t>(context, request);
  if (request.type == "int64") return MeasureAll<std::int64_t>(context, request);
  if (request.type == "int8") return MeasureAll<std::int8_t>(context, request);
  if (request.type == "uint8") return MeasureAll<std::uint8_t>(context, request);
  throw std::runtime_error("Gloo is not asked for type " + request.type);
}

// ---- Processes.

struct BenchRank {
  int rank = 0, size = 1;
  std::string address, folder;
};

int RunRank(const BenchRank& bench_rank, const Request& request) {
  try {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = bench_rank.address;
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    auto context = std::make_shared<gloo::rendezvous::Context>(bench_rank.rank, bench_rank.size);
    context->setTimeout(std::chrono::minutes(2));
    gloo::rendezvous::FileStore store(bench_rank.folder);
    context->connectFullMesh(store, device);
    const auto barrier = [&] {
      gloo::BarrierOptions options(context);
      gloo::barrier(options);
    };
    barrier();
    std::error_code ignored;  // the other processes may end at any time
    if (bench_rank.rank == 0) std::filesystem::remove_all(bench_rank.folder, ignored);
    if (bench_rank.rank == 0)
      std::printf("version Gloo %d.%d.%d\n", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
                  GLOO_VERSION_PATCH);
    MeasureType(context, request);
    barrier();  // no process closes while others still work
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

Request RequestOf(int count, char** arguments) {
  Request request{.operation = arguments[2],
                  .type = arguments[3],
                  .reduction = arguments[4],
                  .root = std::atoi(arguments[5]),
                  .in_place = std::string(arguments[6]) == "in",
                  .options = LoopOptionsOf(arguments[7], arguments[8]),
                  .counts = {}};
  for (int i = 9; i < count; ++i)
    request.counts.push_back(static_cast<std::size_t>(std::atoll(arguments[i])));
  return request;
}

std::optional<BenchRank> BenchRankNamed(const std::string& text) {
  const std::size_t size = text.find(','), address = text.find(',', size + 1),
                    folder = text.find(',', address + 1);
  if (size == std::string::npos) return std::nullopt;
  BenchRank bench_rank{std::atoi(text.c_str()), std::atoi(text.c_str() + size + 1),
                       text.substr(address + 1, folder - address - 1), text.substr(folder + 1)};
  std::error_code ignored;
  std::filesystem::create_directories(bench_rank.folder, ignored);
  return bench_rank;
}

bool AwaitAll(std::vector<pid_t> children) {
  bool good = true;
  int status = 0;
  for (pid_t ended; (ended = ::wait(&status)) > 0;) {
    std::erase(children, ended);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    good = false;
    for (const pid_t child : children) ::kill(child, SIGKILL);
  }
  return good;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 10) return 2;
  const Request request = RequestOf(argument_count, arguments);
  if (const auto bench_rank = BenchRankNamed(arguments[1])) ::_exit(RunRank(*bench_rank, request));
  const int size = std::atoi(arguments[1]);
  if (size < 1) return 2;
  std::string folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "/tmp/";
  folder += "ringlet-gloo-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = ::fork();
    // Skips the destructors. They take longer than all the rest.
    if (child == 0) ::_exit(RunRank({rank, size, "127.0.0.1", folder}, request));
    children.push_back(child);
  }
  const bool good = AwaitAll(std::move(children));
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return good ? 0 : 3;
}
