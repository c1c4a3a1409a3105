#include "comm/backend/emulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/machine/paced.hpp"
#include "comm/plugin/tuner.hpp"
#include "os/clock.hpp"
#include "os/fs/write_file.hpp"

namespace ringlet::comm {

using collective::Operation;

Emulated::Emulated(const Origin& origin, std::shared_ptr<const GpuMachine> machine,
                   LinksOnDemand& links, bool spins)
    : Backend({Rank{origin.config.rank}, origin.config.size}, {.refuses_any = true}),
      origin_(origin),
      machine_(std::move(machine)),
      links_(links),
      spins_(spins),
      traffic_(machine_, place_.self) {}

Status Emulated::Can(const collective::Call& call) const {
  const auto way = machine_->AlgorithmNamesOf(call);
  return way.ok() ? Ok() : Status(way.error());
}

Status Emulated::Start(const collective::Call& given, const collective::Fingerprint& fingerprint,
                       Started& started) {
  const collective::Call call = memory_.WithData(given);
  RINGLET_TRY_ASSIGN(auto made, memory_.TaskOf(call, fingerprint, place_));
  RINGLET_TRY_ASSIGN(const auto program,
                     programs_.For(call, made.overlap, [&] { return Build(call, made.overlap); }));
  collective::Task& task = made.task;
  if (given.kind != collective::CallKind::kBarrier) {
    traffic_.Began(call, place_, program->way);
    task.sent = &traffic_.counter(program->way.carriage);
  }
  task.flow = program->flow;
  task.scratch = memory_.Scratch(task.flow->scratch_count * SizeOf(call.type));
  return StartBy(Paced(links_.Run(std::move(task)), call, program->way), started);
}

Result<Emulated::Program> Emulated::Build(const collective::Call& call,
                                          const collective::Overlap& overlap) const {
  RINGLET_TRY_ASSIGN(MachineAlgorithm way, machine_->AlgorithmNamesOf(call));
  auto flow = std::make_shared<const collective::Flow>(
      collective::Derive(machine_->ScheduleOf(call, place_, way), overlap));
  return Program{std::move(way), std::move(flow)};
}

LinksOnDemand::Made Emulated::Paced(LinksOnDemand::Made started, const collective::Call& call,
                                    const MachineAlgorithm& way) {
  if (!way.pick || !started.ok() || !origin_.process->settings().pace) return started;
  constexpr std::chrono::microseconds kSpin(60);  // maximum delay after a sleep
  const Instant predicted(static_cast<std::int64_t>(way.predicted_ns()));
  // Ends before the timeout, even if the predicted time is longer.
  PredictedEnd pace{.until = os::Now() + std::min(predicted, Instant(links_.timeout()) / 2),
                    .now = os::Now,
                    .on_late = [this, call, way] { traffic_.WasSlower(call, way); },
                    .spin = spins_ ? Instant(kSpin) : Instant(0)};
  return std::unique_ptr<Operation>(
      std::make_unique<PacedOperation>(*std::move(started), links_.waiter(), std::move(pace)));
}

collective::SentBytes* Emulated::CountMessage(Rank to, std::size_t bytes,
                                              collective::CallKind kind) {
  traffic_.BeganMessage(to, bytes, kind);
  return &traffic_.counter(plan::TransferPurpose::kMessage);
}

Profile::AlgorithmNames Emulated::AlgorithmNamesOf(const collective::Call& call) const {
  const auto way = machine_->AlgorithmNamesOf(call);
  if (!way.ok() || !way->pick) return {.algorithm = "MESSAGES", .protocol = "SIMPLE"};
  return {.algorithm = way->carriage == plan::TransferPurpose::kTree ? "TREE" : "RING",
          .protocol = NcclName(way->pick->protocol),
          .channels = way->channels};
}

collective::Call Emulated::Choose(const collective::Call& call,
                                  const collective::TunerChoice& choice) const {
  collective::Call chosen = call;
  chosen.tuner = choice;
  return chosen;
}

void Emulated::FreeWorkingMemory() {
  Backend::FreeWorkingMemory();
  programs_.Clear();
}

// A failure to write the report is only logged, because the operations themselves succeeded.
void Emulated::Leave() {
  const Settings& settings = origin_.process->settings();
  if (settings.traffic_dir.empty()) return;
  const std::uint64_t magic = origin_.credentials.magic;
  const std::string file =
      fmt::format("{}/{:016x}-{}.json", settings.traffic_dir, magic, Index(place_.self));
  const Status written = os::WriteFile(file, traffic_.ToJson(magic, settings.host_id));
  if (!written.ok())
    origin_.process->logger().WarnOnce("the traffic report is not written: " +
                                       written.error().message);
}

}  // namespace ringlet::comm
