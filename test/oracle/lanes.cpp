#include "lanes.hpp"

#include <fmt/format.h>

#include "dice.hpp"
#include "verdicts.hpp"

namespace oracle {

void MustStream(ringletResult_t result, const char* what) {
  if (result == ringletSuccess) return;
  throw Refusal(fmt::format("{} returned {}: {}", what, ringletStreamResultName(result),
                            ringletStreamLastMessage()));
}

void Gate::Hold(ringletStream_t stream) {
  const auto wait = [](void* data) { static_cast<std::atomic<bool>*>(data)->wait(false); };
  MustStream(ringletStreamLaunch(stream, wait, &open_), "ringletStreamLaunch");
}

void Gate::Open() {
  open_ = true;
  open_.notify_all();
}

Lanes::~Lanes() {
  for (const ringletStream_t stream : streams_) static_cast<void>(ringletStreamDestroy(stream));
}

void Lanes::Use(int count, std::uint64_t seed) {
  while (static_cast<int>(streams_.size()) < count) {
    const std::uint64_t kind = Mix(seed + streams_.size() * kGolden) % 2;
    ringletStream_t stream = nullptr;
    MustStream(ringletStreamCreate(&stream, 0, static_cast<unsigned>(kind), 0),
               "ringletStreamCreate");
    streams_.push_back(stream);
  }
  count_ = count;
}

void Lanes::Order(int earlier, int later) const {
  ringletEvent_t event = nullptr;
  MustStream(ringletEventCreate(&event, ringletEventDisableTiming), "ringletEventCreate");
  MustStream(ringletEventRecord(event, (*this)[earlier]), "ringletEventRecord");
  MustStream(ringletStreamWaitEvent((*this)[later], event), "ringletStreamWaitEvent");
  MustStream(ringletEventDestroy(event), "ringletEventDestroy");
}

void Lanes::BeginCapture() const {
  MustStream(ringletStreamBeginCapture((*this)[0], ringletCaptureThreadLocal),
             "ringletStreamBeginCapture");
  for (int i = 1; i < count_; ++i) Order(0, i);
}

void Lanes::EndCaptureAndLaunch(int times) const {
  for (int i = 1; i < count_; ++i) Order(i, 0);
  ringletGraph_t graph = nullptr;
  ringletGraphExec_t exec = nullptr;
  MustStream(ringletStreamEndCapture((*this)[0], &graph), "ringletStreamEndCapture");
  MustStream(ringletGraphInstantiate(&exec, graph), "ringletGraphInstantiate");
  MustStream(ringletGraphDestroy(graph), "ringletGraphDestroy");
  for (int i = 0; i < times; ++i)
    MustStream(ringletGraphLaunch(exec, (*this)[i % count_]), "ringletGraphLaunch");
  MustStream(ringletGraphExecDestroy(exec), "ringletGraphExecDestroy");
}

std::string Lanes::Synchronize() const {
  std::string failed;
  for (const ringletStream_t stream : streams_) {
    const ringletResult_t result = ringletStreamSynchronize(stream);
    if (result != ringletFailed) MustStream(result, "ringletStreamSynchronize");
    if (result == ringletFailed && failed.empty()) failed = ringletStreamLastMessage();
  }
  return failed;
}

}  // namespace oracle
