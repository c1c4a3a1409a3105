// Random small programs over streams, events and graphs, and a model that computes the content of
// each buffer. The model follows by vector clocks which accesses are ordered. Programs make only
// ordered accesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "base/value/prng.hpp"
#include "ringlet/stream.h"

namespace ringlet::stream_api {
namespace {

constexpr std::size_t kStreams = 5;  // the legacy one, two blocking, one non-blocking, per-thread
constexpr std::size_t kFree = 3;     // the non-blocking one, made last
constexpr unsigned kNonBlocking = ringletStreamNonBlocking;
constexpr std::size_t kBuffers = 4;

using Clock = std::array<int, kStreams>;

void Merge(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < kStreams; ++i) into[i] = std::max(into[i], other[i]);
}

/// One host function: a buffer becomes a function of itself and another one.
struct Access {
  std::uint64_t* to;
  const std::uint64_t* from;
  std::uint64_t salt;
  unsigned yields;
};

std::uint64_t After(std::uint64_t to, std::uint64_t from, std::uint64_t salt) {
  return to * 3 + from + salt;
}

void Run(void* data) {
  const Access& access = *static_cast<const Access*>(data);
  const std::uint64_t from = *access.from, to = *access.to;
  for (unsigned i = 0; i < access.yields; ++i) std::this_thread::yield();
  *access.to = After(to, from, access.salt);
}

struct Stamp {
  std::size_t stream = 0;
  int tick = 0;
};

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    streams_ = {ringletStreamLegacy, nullptr, nullptr, nullptr, ringletStreamPerThread};
    for (std::size_t i = 1; i <= kFree; ++i)
      Expect(ringletStreamCreate(&streams_[i], 0, i == kFree ? kNonBlocking : 0, 0));
  }
  ~RandomProgram() {
    for (std::size_t i = 1; i <= kFree; ++i) Expect(ringletStreamDestroy(streams_[i]));
  }
  RandomProgram(const RandomProgram&) = delete;
  RandomProgram& operator=(const RandomProgram&) = delete;

  void Go(int steps) {
    for (int i = 0; i < steps; ++i) {
      switch (random_.Below(8)) {
        case 0: Synchronize(random_.Below(kStreams)); break;
        case 1: Order(random_.Below(kStreams), random_.Below(kStreams)); break;
        case 2: CaptureAndLaunch(); break;
        default: Step(random_.Below(kStreams));
      }
    }
    Expect(ringletStreamSynchronizeDevice(0));
    EXPECT_EQ(buffers_, expected_);
  }

 private:
  static void Expect(ringletResult_t result) {
    EXPECT_EQ(result, ringletSuccess) << ringletStreamLastMessage();
  }

  /// Applies the legacy stream's order before the next item of `stream`.
  void OrderImplicitly(std::size_t stream) {
    if (stream == 0)
      for (std::size_t i = 1; i < kStreams; ++i)
        if (i != kFree) Merge(clocks_[0], clocks_[i]);
    if (stream != 0 && stream != kFree) Merge(clocks_[stream], clocks_[0]);
  }

  /// Makes `to` wait for all items of `from`.
  void Order(std::size_t from, std::size_t to) {
    ringletEvent_t event = nullptr;
    Expect(ringletEventCreate(&event, ringletEventDisableTiming));
    Expect(ringletEventRecord(event, streams_[from]));
    OrderImplicitly(from);
    Expect(ringletStreamWaitEvent(streams_[to], event));
    Expect(ringletEventDestroy(event));
    Merge(clocks_[to], clocks_[from]);
  }

  void Synchronize(std::size_t stream) {
    Expect(ringletStreamSynchronize(streams_[stream]));
    if (stream == 0) OrderImplicitly(stream);  // else waits for the items of the stream only
    const Clock done = clocks_[stream];
    for (Clock& clock : clocks_) Merge(clock, done);
  }

  bool IsOrdered(std::size_t buffer, std::size_t stream) const {
    return clocks_[stream][stamps_[buffer].stream] >= stamps_[buffer].tick;
  }

  /// Lets the next item of `stream` access the buffer.
  void Claim(std::size_t buffer, std::size_t stream) {
    OrderImplicitly(stream);
    if (!IsOrdered(buffer, stream)) Order(stamps_[buffer].stream, stream);
    ASSERT_TRUE(IsOrdered(buffer, stream));
  }

  void Touch(std::size_t buffer, std::size_t stream) {
    stamps_[buffer] = {stream, clocks_[stream][stream]};
  }

  Access& Draw(std::size_t to, std::size_t from) {
    return accesses_.emplace_back(Access{&buffers_[to], &buffers_[from], random_.Next(),
                                         static_cast<unsigned>(random_.Below(4))});
  }

  void Apply(std::size_t to, std::size_t from, std::uint64_t salt) {
    expected_[to] = After(expected_[to], expected_[from], salt);
  }

  void Step(std::size_t stream) {
    const std::size_t to = random_.Below(kBuffers), from = random_.Below(kBuffers);
    Claim(to, stream);
    Claim(from, stream);
    Access& access = Draw(to, from);
    Expect(ringletStreamLaunch(streams_[stream], Run, &access));
    Apply(to, from, access.salt);
    ++clocks_[stream][stream];
    Touch(to, stream);
    Touch(from, stream);
  }

  /// Captures two streams. The second one forks off the first and joins it at the end. Without an
  /// event in between, each has its own buffers.
  void CaptureAndLaunch() {
    const std::size_t first = 1 + random_.Below(2), second = kFree;
    struct Planned {
      std::size_t to, from;
      std::uint64_t salt;
    };
    std::vector<Planned> planned;
    Expect(ringletStreamBeginCapture(streams_[first], ringletCaptureGlobal));
    Wait(first, second);
    std::size_t half = 0;
    for (int i = 0; i < 6; ++i) {
      const bool on_second = random_.Below(2) == 0;
      if (random_.Below(3) == 0) {
        Wait(first, second);
        Wait(second, first);
        half = random_.Below(2);
      }
      // Each has two of the four buffers between those points.
      const std::size_t base = (on_second ? 1 - half : half) * 2;
      const Planned one{base + random_.Below(2), base + random_.Below(2), 0};
      Access& access = Draw(one.to, one.from);
      Expect(ringletStreamLaunch(streams_[on_second ? second : first], Run, &access));
      planned.push_back({one.to, one.from, access.salt});
    }
    Wait(second, first);
    ringletGraph_t graph = nullptr;
    Expect(ringletStreamEndCapture(streams_[first], &graph));
    ringletGraphExec_t exec = nullptr;
    Expect(ringletGraphInstantiate(&exec, graph));
    Expect(ringletGraphDestroy(graph));
    for (std::uint64_t times = 1 + random_.Below(3); times > 0; --times) {
      const std::size_t on = random_.Below(kStreams);
      for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) Claim(buffer, on);
      Expect(ringletGraphLaunch(exec, streams_[on]));
      for (const Planned& one : planned) Apply(one.to, one.from, one.salt);
      ++clocks_[on][on];
      for (std::size_t buffer = 0; buffer < kBuffers; ++buffer) Touch(buffer, on);
    }
    Expect(ringletGraphExecDestroy(exec));
  }

  void Wait(std::size_t from, std::size_t to) {
    ringletEvent_t event = nullptr;
    Expect(ringletEventCreate(&event, 0));
    Expect(ringletEventRecord(event, streams_[from]));
    Expect(ringletStreamWaitEvent(streams_[to], event));
    Expect(ringletEventDestroy(event));
  }

  Prng random_;
  std::array<ringletStream_t, kStreams> streams_ = {};
  std::array<Clock, kStreams> clocks_ = {};
  std::array<Stamp, kBuffers> stamps_ = {};
  std::array<std::uint64_t, kBuffers> buffers_ = {1, 2, 3, 4};
  std::array<std::uint64_t, kBuffers> expected_ = {1, 2, 3, 4};
  std::deque<Access> accesses_;
};

TEST(RandomPrograms, BuffersMatchTheModel) {
  for (std::uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomProgram(seed).Go(60);
  }
}

}  // namespace
}  // namespace ringlet::stream_api
