// Collectives that use links only.
#pragma once
#include "collective/exec/dataflow.hpp"
#include "comm/backend/links_on_demand.hpp"
#include "comm/backend/program_cache.hpp"
#include "comm/backend/selector.hpp"

namespace ringlet::comm {

class OverLinks final : public SelectingBackend {
 public:
  /// \param links  outlive this
  OverLinks(collective::CallPlace place, Selector selector, LinksOnDemand& links)
      : SelectingBackend(place, {}, std::move(selector)), links_(links) {}

  Status Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
               Started& started) override;

  void FreeWorkingMemory() override;

 private:
  LinksOnDemand& links_;
  ProgramCache<collective::Flow> flows_;
};

}  // namespace ringlet::comm
