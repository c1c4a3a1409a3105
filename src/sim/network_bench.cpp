// Measures the speed and memory of the simulated network. Minimal machines join as a communicator
// does: all dial one root, a roster travels down a tree, and readiness travels up.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include "sim/network.hpp"

namespace ringlet::sim {
namespace {

// The size of a message identifies its kind.
constexpr std::size_t kHello = 48, kChallenge = 72, kCheckIn = 200, kReady = 5, kGo = 6;
constexpr std::size_t kRoster = 1 << 20;
constexpr std::uint32_t kArity = 8;
constexpr LineId kToRoot = 1, kToChildren = 2;

const Address kRoot = Address::Ipv4(11, 0, 0, 1, 1);

SharedBytes Message(std::size_t bytes) {
  return Share(Bytes(bytes));
}

class Root final : public Machine {
 public:
  explicit Root(std::uint32_t size) : size_(size) {}
  void Handle(const Event& event, Instant) override {
    const auto* received = std::get_if<Received>(&event);
    if (!received) return;
    const std::size_t bytes = received->data.bytes.size();
    if (bytes == kHello) Emit(Send{received->line, Slice(Message(kChallenge))});
    if (bytes != kCheckIn) return;
    if (checked_in_++ == 0) first_ = received->line;
    if (checked_in_ == size_) Emit(Send{first_, Slice(Message(kRoster))});
  }
  std::optional<Instant> Deadline() const override { return std::chrono::seconds(300); }
  bool Finished() const override { return false; }

 private:
  std::uint32_t size_, checked_in_ = 0;
  LineId first_ = 0;
};

class Joiner final : public Machine {
 public:
  Joiner(std::uint32_t rank, std::uint32_t size) : rank_(rank), size_(size) {}

  void Handle(const Event& event, Instant) override {
    if (std::holds_alternative<Tick>(event) && !started_) {
      started_ = true;
      Emit(Dial{kToRoot, kRoot});
    }
    if (const auto* connected = std::get_if<Connected>(&event))
      Emit(Send{connected->line, Slice(Message(kHello))});
    if (const auto* received = std::get_if<Received>(&event)) OnReceived(*received);
  }
  std::optional<Instant> Deadline() const override { return std::chrono::seconds(300); }
  bool Finished() const override { return false; }
  bool gone() const { return gone_; }

 private:
  void OnReceived(const Received& event) {
    switch (event.data.bytes.size()) {
      case kHello: return Emit(Send{event.line, Slice(Message(kChallenge))});
      case kChallenge:
        if (event.line == kToRoot) return Emit(Send{kToRoot, Slice(Message(kCheckIn))});
        return Emit(Send{event.line, roster_});
      case kReady: return ++ready_, ReportIfReady();
      case kGo: return Go();
      default: break;
    }
    up_ = event.line;
    roster_ = event.data;
    for (std::uint32_t child = 0; child < children(); ++child)
      Emit(Dial{kToChildren + child, Network::AddressOn(rank_ * kArity + 1 + child, 1)});
    ReportIfReady();
  }
  std::uint32_t children() const {
    const std::uint64_t first = std::uint64_t{rank_} * kArity + 1;
    return first >= size_
               ? 0
               : static_cast<std::uint32_t>(std::min<std::uint64_t>(size_ - first, kArity));
  }
  void ReportIfReady() {
    if (ready_ < children()) return;
    if (rank_ == 0) return Go();
    Emit(Send{up_, Slice(Message(kReady))});
  }
  void Go() {
    gone_ = true;
    for (std::uint32_t child = 0; child < children(); ++child)
      Emit(Send{kToChildren + child, Slice(Message(kGo))});
  }

  std::uint32_t rank_, size_;
  LineId up_ = 0;
  std::uint32_t ready_ = 0;
  bool started_ = false, gone_ = false;
  Slice roster_;
};

std::size_t MemoryInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void Join(benchmark::State& state) {
  const auto size = static_cast<std::uint32_t>(state.range(0));
  std::uint64_t events = 0;
  std::size_t memory = 0;
  for (auto _ : state) {
    const std::size_t before = MemoryInUse();
    Conditions conditions;
    conditions.latency_min = conditions.latency_max = std::chrono::microseconds(20);
    conditions.chunk_max = Conditions::kUncut;
    conditions.mb_per_s = 1250;
    Network network(1, conditions);
    network.Add(std::make_unique<Root>(size), kRoot, Instant(0), 0);
    for (std::uint32_t rank = 0; rank < size; ++rank)
      network.Add(std::make_unique<Joiner>(rank, size), Network::AddressOn(rank, 1), Instant(0),
                  rank / 8);
    if (!network.Run(std::chrono::seconds(100), ~std::uint64_t{0})) state.SkipWithError("livelock");
    for (NodeId node = 1; node <= size; ++node)
      if (!static_cast<Joiner&>(network.machine(node)).gone()) state.SkipWithError("not joined");
    events += network.events();
    memory = MemoryInUse() - before;
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["events/node"] =
      static_cast<double>(events) / size / static_cast<double>(state.iterations());
  state.counters["bytes/node"] = static_cast<double>(memory) / size;
}
BENCHMARK(Join)->Arg(1024)->Arg(16'384)->Arg(131'072)->Unit(benchmark::kMillisecond);
BENCHMARK(Join)->Arg(1 << 20)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace ringlet::sim
