#include "collective/schedule.hpp"

#include <fmt/format.h>

namespace ringlet::collective {
namespace {

const char* Verb(StepKind kind) {
  switch (kind) {
    case StepKind::kSend: return "send";
    case StepKind::kReceive: return "receive";
    case StepKind::kReceiveSum: return "receive-sum";
  }
  return "unknown";
}

}  // namespace

std::string ToText(const Step& step) {
  return fmt::format("{} {} elements at {} {} rank {} on channel {}{}", Verb(step.kind),
                     step.range.count, step.range.begin,
                     step.kind == StepKind::kSend ? "to" : "from", Index(step.peer), step.channel,
                     step.finishes ? ", finishes" : "");
}

std::string ToText(const Schedule& schedule) {
  std::string text = fmt::format("{} elements, {} steps\n", schedule.count, schedule.steps.size());
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    text += fmt::format("{:4}  {}\n", i, ToText(schedule.steps[i]));
  }
  return text;
}

}  // namespace ringlet::collective
