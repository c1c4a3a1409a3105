// Collectives that go over links alone.
#pragma once
#include "collective/exec/dataflow.hpp"
#include "comm/backend/backend.hpp"
#include "comm/backend/links_on_demand.hpp"
#include "comm/backend/program_cache.hpp"
#include "comm/backend/selector.hpp"

namespace ringlet::comm {

class OverLinks final : public Backend {
 public:
  /// \param links  outlive this
  OverLinks(collective::CallPlace place, Selector selector, LinksOnDemand& links)
      : Backend(place, {}), selector_(std::move(selector)), links_(links) {}

  Status Can(const collective::Call& call) const override { return selector_.Can(call); }
  Status Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
               Started& started) override;

  Profile::Way WayOf(const collective::Call& call) const override {
    return {.algorithm = Name(selector_.For(call)).data(), .protocol = "SIMPLE"};
  }
  plan::TimeTable TimesOf(const collective::Call& call) const override {
    return selector_.TimesOf(call);
  }
  collective::Call Choose(const collective::Call& call,
                          const collective::TunerChoice& choice) const override {
    return Selector::Choose(call, choice);
  }
  void FreeWorkingMemory() override;

 private:
  const Selector selector_;
  LinksOnDemand& links_;
  ProgramCache<collective::Flow> flows_;
};

}  // namespace ringlet::comm
