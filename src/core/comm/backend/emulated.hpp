// Runs calls on the channels of an emulated machine. They are planned as NCCL plans them, counted
// by link and, if requested, slowed down to the predicted time.
#pragma once
#include <memory>

#include "collective/exec/dataflow.hpp"
#include "comm/backend/backend.hpp"
#include "comm/backend/links_on_demand.hpp"
#include "comm/backend/program_cache.hpp"
#include "comm/machine/traffic.hpp"
#include "comm/process/config.hpp"

namespace ringlet::comm {

class Emulated final : public Backend {
 public:
  /// \param origin, links  outlive this
  /// \param spins  true if a waiting rank has its own core
  Emulated(const Origin& origin, std::shared_ptr<const GpuMachine> machine, LinksOnDemand& links,
           bool spins);

  Status Can(const collective::Call& call) const override;
  Status Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
               Started& started) override;
  collective::SentBytes* CountMessage(Rank to, std::size_t bytes,
                                      collective::CallKind kind) override;

  Profile::AlgorithmNames AlgorithmNamesOf(const collective::Call& call) const override;
  plan::TimeTable TimesOf(const collective::Call& call) const override {
    return machine_->TimesOf(call);
  }
  collective::Call Choose(const collective::Call& call,
                          const collective::TunerChoice& choice) const override;
  const GpuMachine* machine() const override { return machine_.get(); }
  void FreeWorkingMemory() override;

  /// Writes the report of the bytes moved, if the user requested it.
  void Leave() override;

 private:
  struct Program {
    MachineAlgorithm way;
    std::shared_ptr<const collective::Flow> flow;
  };
  Result<Program> Build(const collective::Call& call, const collective::Overlap& overlap) const;
  /// Returns the operation. With PACE, it lasts as long as NCCL's time model predicts.
  LinksOnDemand::Made Paced(LinksOnDemand::Made started, const collective::Call& call,
                            const MachineAlgorithm& way);

  const Origin& origin_;
  const std::shared_ptr<const GpuMachine> machine_;
  LinksOnDemand& links_;
  const bool spins_;
  MachineTraffic traffic_;
  ProgramCache<Program> programs_;
};

}  // namespace ringlet::comm
