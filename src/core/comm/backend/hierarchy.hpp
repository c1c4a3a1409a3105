// Collectives among several hosts. The ranks of each host share memory. Some parts of a call run
// through that memory, the others over links.
#pragma once
#include <memory>
#include <vector>

#include "collective/exec/dataflow.hpp"
#include "collective/layout/call_parts.hpp"
#include "comm/backend/host_memory.hpp"
#include "comm/backend/links_on_demand.hpp"
#include "comm/backend/program_cache.hpp"
#include "comm/backend/selector.hpp"

namespace ringlet::comm {

class Hierarchy final : public SelectingBackend {
 public:
  /// \param memory, links  outlive this. \pre  memory.hosts() is not empty
  Hierarchy(collective::CallPlace place, Selector selector, HostMemory& memory,
            LinksOnDemand& links);

  Status Start(const collective::Call& call, const collective::Fingerprint& fingerprint,
               Started& started) override;
  void CountEmptyCall(const collective::Fingerprint& call) override {
    if (host_memory_.engine()) host_memory_.engine()->CountEmptyCall(call);
  }

  void FreeWorkingMemory() override;

  void Leave() override { host_memory_.Leave(); }
  void GiveUp() override { host_memory_.GiveUp(); }

 private:
  struct Stage {
    std::shared_ptr<const collective::Flow> flow;  ///< over links; null: on the host
    collective::HostPart on_host = {};
  };
  struct Program {
    std::size_t scratch_count = 0;
    std::vector<Stage> stages = {};
  };

  Program Build(const collective::Call& call, const collective::Overlap& overlap) const;
  /// \param task  of the whole call
  LinksOnDemand::Made StartStage(const Stage& stage, const collective::Call& call,
                                 collective::Task task, bool is_first);
  void StartOnHost(const collective::HostPart& part, const collective::Call& call,
                   const collective::Task& task, bool is_first);

  const collective::ScoreTable scores_;  // empty if this rank is alone on its host
  HostMemory& host_memory_;
  LinksOnDemand& links_;
  ProgramCache<Program> programs_;
};

}  // namespace ringlet::comm
