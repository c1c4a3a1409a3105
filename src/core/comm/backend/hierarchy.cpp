#include "comm/backend/hierarchy.hpp"

#include <utility>

#include "comm/backend/sequence.hpp"
#include "comm/backend/shared_memory.hpp"

namespace ringlet::comm {
namespace {

using collective::Operation;

/// Returns the part of a call's buffer that begins at `place`.
std::span<std::byte> WritableMemoryOf(const collective::Task& task, const collective::Place& place,
                                      DataType type) {
  const bool scratch = place.buffer == collective::Buffer::kScratch;
  return (scratch ? task.scratch : task.output).subspan(place.begin * SizeOf(type));
}
View MemoryOf(const collective::Task& task, const collective::Place& place, DataType type) {
  if (place.buffer != collective::Buffer::kInput) return WritableMemoryOf(task, place, type);
  return task.input.subspan(place.begin * SizeOf(type));
}

}  // namespace

Hierarchy::Hierarchy(collective::CallPlace place, Selector selector, HostMemory& memory,
                     LinksOnDemand& links)
    : SelectingBackend(place, {}, std::move(selector)),
      scores_(memory.engine() ? ScoresOf(*memory.engine(), selector_.tuner())
                              : collective::ScoreTable()),
      host_memory_(memory),
      links_(links) {}

Status Hierarchy::Start(const collective::Call& given, const collective::Fingerprint& fingerprint,
                        Started& started) {
  const collective::Call call = memory_.WithData(given);
  RINGLET_TRY_ASSIGN(auto made, memory_.TaskOf(call, fingerprint, place_));
  RINGLET_TRY_ASSIGN(const auto program, programs_.For(call, made.overlap, [&] {
    return Result(Build(call, made.overlap));
  }));
  collective::Task& task = made.task;
  task.scratch = memory_.Scratch(program->scratch_count * SizeOf(call.type));
  if (program->stages.size() == 1)
    return StartBy(StartStage(program->stages.front(), call, task, true), started);
  std::vector<Sequence::SubOperation> parts;
  for (const Stage& stage : program->stages) {
    const bool is_first = parts.empty();
    parts.push_back({.make = [this, program, &stage, call, task,
                              is_first] { return StartStage(stage, call, task, is_first); },
                     .over_links = stage.flow != nullptr,
                     .links_before = stage.on_host.links_before});
  }
  return StartBy(Sequence::Begin(std::move(parts)), started);
}

Hierarchy::Program Hierarchy::Build(const collective::Call& call,
                                    const collective::Overlap& overlap) const {
  const collective::CallParts parts =
      collective::BuildParts(selector_.For(call), call, place_, selector_.layout());
  Program program{.scratch_count = parts.scratch_count};
  for (const collective::CallPart& part : parts.parts) {
    Stage& stage = program.stages.emplace_back();
    if (const auto* schedule = std::get_if<collective::Schedule>(&part))
      stage.flow = std::make_shared<const collective::Flow>(collective::Derive(*schedule, overlap));
    else
      stage.on_host = std::get<collective::HostPart>(part);
  }
  return program;
}

LinksOnDemand::Made Hierarchy::StartStage(const Stage& stage, const collective::Call& call,
                                          collective::Task task, bool is_first) {
  if (!stage.flow) {
    StartOnHost(stage.on_host, call, task, is_first);
    return std::unique_ptr<Operation>(std::make_unique<HostRun>(*host_memory_.engine()));
  }
  task.flow = stage.flow;
  return links_.Run(std::move(task));
}

void Hierarchy::StartOnHost(const collective::HostPart& part, const collective::Call& call,
                            const collective::Task& task, bool is_first) {
  collective::ShmCollective& engine = *host_memory_.engine();
  const collective::CallPlace place{Rank{engine.self()}, engine.arena().shape().ranks};
  collective::Call here{.kind = part.kind,
                        .count = part.count,
                        .type = call.type,
                        .op = call.op == ReduceOp::kAvg ? ReduceOp::kSum : call.op,
                        .root = part.root};
  if (const std::size_t bytes = InputBytes(here, place); bytes > 0)
    here.input = MemoryOf(task, part.input, call.type).first(bytes);
  if (const std::size_t bytes = OutputBytes(here, place); bytes > 0)
    here.output = WritableMemoryOf(task, part.output, call.type).first(bytes);
  using PartOf = collective::ShmCollective::PartOf;
  const PartOf which = part.after_links ? PartOf::kAfterLinks
                       : is_first       ? PartOf::kFirst
                                        : PartOf::kNext;
  engine.StartPart(here, scores_.For(here.kind, BlockBytes(here)), task.fingerprint, which);
}

void Hierarchy::FreeWorkingMemory() {
  Backend::FreeWorkingMemory();
  programs_.Clear();
}

}  // namespace ringlet::comm
