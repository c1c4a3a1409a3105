#include "collective/exec/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringlet::collective {

Range EvenChunk(std::size_t count, std::size_t chunks, std::size_t index) {
  const std::size_t quotient = count / chunks;
  const std::size_t remainder = count % chunks;
  return {.begin = index * quotient + std::min(index, remainder),
          .count = quotient + (index < remainder ? 1 : 0)};
}

std::string ToText(const Place& place) {
  constexpr const char* kBuffers[] = {"input", "output", "scratch"};
  return fmt::format("{} {}", kBuffers[static_cast<std::size_t>(place.buffer)], place.begin);
}

namespace {

std::string Words(const Step& step) {
  const std::string peer = fmt::format("rank {} on channel {}", Index(step.peer), step.channel);
  const std::string from = ToText(step.from), to = ToText(step.to);
  switch (step.kind) {
    case StepKind::kSend:
      return fmt::format("send {} elements at {} to {}", step.count, from, peer);
    case StepKind::kReceive:
      return fmt::format("receive {} elements from {} into {}", step.count, peer, to);
    case StepKind::kReceiveReduce:
      return fmt::format("receive {} elements from {}, reduced with {} into {}", step.count, peer,
                         from, to);
    case StepKind::kCopy: return fmt::format("copy {} elements at {} to {}", step.count, from, to);
    case StepKind::kReduce:
      return fmt::format("reduce {} elements at {} into {}", step.count, from, to);
  }
  return "unknown";
}

Step& Add(Schedule& schedule, Step step) {
  schedule.steps.push_back(step);
  return schedule.steps.back();
}

}  // namespace

Step& Schedule::Send(Rank peer, Place from, std::size_t count) {
  return Add(*this, {.kind = StepKind::kSend, .peer = peer, .count = count, .from = from});
}
Step& Schedule::Receive(Rank peer, Place to, std::size_t count) {
  return Add(*this, {.kind = StepKind::kReceive, .peer = peer, .count = count, .to = to});
}
Step& Schedule::ReceiveReduce(Rank peer, Place from, Place to, std::size_t count) {
  return Add(
      *this,
      {.kind = StepKind::kReceiveReduce, .peer = peer, .count = count, .from = from, .to = to});
}
Step& Schedule::Copy(Place from, Place to, std::size_t count) {
  return Add(*this, {.kind = StepKind::kCopy, .count = count, .from = from, .to = to});
}
Step& Schedule::Reduce(Place from, Place to, std::size_t count) {
  return Add(*this, {.kind = StepKind::kReduce, .count = count, .from = from, .to = to});
}

void Schedule::Append(const Schedule& inner, const Mount& mount) {
  const std::size_t scratch = std::exchange(scratch_count, scratch_count + inner.scratch_count);
  const auto placed = [&](const Place& place) {
    Place base = Scratch(scratch);
    if (place.buffer == Buffer::kInput) base = mount.input;
    if (place.buffer == Buffer::kOutput) base = mount.output;
    return Place{base.buffer, base.begin + place.begin};
  };
  for (Step step : inner.steps) {
    if (Reads(step.kind)) step.from = placed(step.from);
    if (Writes(step.kind)) step.to = placed(step.to);
    steps.push_back(step);
  }
}

std::string ToText(const Step& step) {
  return Words(step) + (step.swapped ? ", operands swapped" : "") +
         (step.finishes ? ", finishes" : "");
}

std::string ToText(const Schedule& schedule) {
  std::string text =
      fmt::format("{} elements in, {} out, {} of scratch, {} steps\n", schedule.input_count,
                  schedule.output_count, schedule.scratch_count, schedule.steps.size());
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    text += fmt::format("{:4}  {}\n", i, ToText(schedule.steps[i]));
  }
  return text;
}

}  // namespace ringlet::collective
