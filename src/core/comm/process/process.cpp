#include "comm/process/process.hpp"

#include "base/settings/setting_table.hpp"
#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"

namespace ringlet::comm {
namespace {

// Duration of a peer's part of a handshake.
constexpr Instant kSpin = std::chrono::microseconds(100);

}  // namespace

// \param prepares  the service thread may start later, if no setting needs it at once
Result<std::shared_ptr<Process>> Process::Make(const EnvMap& environment,
                                               const FileVariables& conf_files, bool prepares) {
  RINGLET_TRY_ASSIGN(ProcessFacts facts, ProcessFacts::Read(environment, conf_files));
  std::shared_ptr<Process> process(new Process(std::move(facts)));
  Diagnostics& diagnostics = process->diagnostics_;
  const bool waits = prepares && !diagnostics.IsOpenAtOnce();
  RINGLET_TRY(waits ? process->services_.Start([&diagnostics] { diagnostics.OpenLater(); })
                    : process->services_.Start());
  for (const std::string& warning : process->settings().warnings)
    process->logger_.Log(LogLevel::kWarn, Subsystem::kEnv, std::nullopt, warning);
  for (const std::string& note : process->settings().notes)
    process->logger_.Log(LogLevel::kInfo, Subsystem::kEnv, std::nullopt, note);
  diagnostics.CreateDumpFolder();
  if (!waits) diagnostics.Open();
  return process;
}

Result<std::shared_ptr<Process>> Process::Start(const EnvMap& environment,
                                                const FileVariables& conf_files) {
  return Make(environment, conf_files, /*prepares=*/false);
}

Result<std::shared_ptr<Process>> Process::StartIn(const EnvMap& environment) {
  return Start(environment, os::ReadConfFiles(environment));
}

Result<std::shared_ptr<Process>> Process::StartHere(const EnvMap& overrides) {
  EnvMap environment = os::ReadEnvironment();
  for (const auto& [name, value] : overrides) environment.insert_or_assign(name, value);
  return StartIn(environment);
}

Result<std::shared_ptr<Process>> Process::PrepareHere() {
  const EnvMap environment = os::ReadEnvironment();
  return Make(environment, os::ReadConfFiles(environment), /*prepares=*/true);
}

Process::Process(ProcessFacts facts)
    : facts_(std::move(facts)),
      logger_(settings(), host().name, host().pid),
      host_reader_(facts_, logger_),
      services_(facts_, logger_),
      roots_(services_, logger_),
      diagnostics_(facts_, logger_, services_) {}

// The threads use all parts, so they stop before the first part ends.
Process::~Process() {
  services_.Stop();
}

os::SocketDriver::Lease Process::Borrow(std::uint32_t ranks) {
  os::SocketDriver::Lease lease(driver(), facts_.MaySpin(ranks) ? kSpin : Instant(0));
  diagnostics_.OpenLater();
  return lease;
}

ProfilerPlugin* Process::profiler() {
  return profiler_.Get(VariableOf(settings(), "PROFILER_PLUGIN"), settings().profiler_plugin,
                       logger_);
}

TunerPlugin* Process::tuner() {
  return tuner_.Get(VariableOf(settings(), "TUNER_PLUGIN"), settings().tuner_plugin, logger_);
}

}  // namespace ringlet::comm
