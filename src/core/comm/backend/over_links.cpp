#include "comm/backend/over_links.hpp"

namespace ringlet::comm {

Status OverLinks::Start(const collective::Call& given, const collective::Fingerprint& fingerprint,
                        Started& started) {
  const collective::Call call = memory_.WithData(given);
  RINGLET_TRY_ASSIGN(auto made, memory_.TaskOf(call, fingerprint, place_));
  RINGLET_TRY_ASSIGN(
      made.task.flow, flows_.For(call, made.overlap, [&]() -> Result<collective::Flow> {
        return collective::Derive(
            collective::Build(selector_.For(call), call, place_, selector_.layout()), made.overlap);
      }));
  made.task.scratch = memory_.Scratch(made.task.flow->scratch_count * SizeOf(call.type));
  return StartBy(links_.Run(std::move(made.task)), started);
}

void OverLinks::FreeWorkingMemory() {
  Backend::FreeWorkingMemory();
  flows_.Clear();
}

}  // namespace ringlet::comm
