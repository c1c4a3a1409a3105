#include "comm/run/observer.hpp"

#include <fmt/format.h>

#include <optional>

#include "comm/process/parts/fault.hpp"
#include "os/clock.hpp"
#include "os/fs/write_file.hpp"
#include "os/process/signals.hpp"

namespace ringlet::comm {
namespace {

std::uint64_t NowNs() {
  return static_cast<std::uint64_t>(os::Now().count());
}

/// Reports the operations to the profiler plug-in of the process.
class Profiling final : public Observer {
 public:
  Profiling(ProfilerPlugin& plugin, const Profile::Identification& identification,
            const Backend& backend)
      : plugin_(plugin), identification_(identification), backend_(backend) {}

  void Formed(const char* name) override {
    if (begun_) return;
    begun_ = true;
    identification_.name = name;
    profile_ = Profile::Begin(plugin_, identification_);
    identification_.name = nullptr;  // belongs to the caller
  }
  void Began(const collective::Call& call) override {
    Formed(nullptr);
    if (profile_) profile_->BeginCollective(call, backend_.AlgorithmNamesOf(call), NowNs());
  }
  void BeganMessages(std::span<const collective::Message> messages) override {
    Formed(nullptr);
    if (profile_) profile_->BeginMessages(messages, NowNs());
  }
  void Ended() override {
    if (profile_) profile_->End(NowNs());
  }

 private:
  ProfilerPlugin& plugin_;
  Profile::Identification identification_;
  const Backend& backend_;
  bool begun_ = false;
  std::unique_ptr<Profile> profile_;  // null: the plug-in refused the communicator
};

/// Kills this process when the operation of the user's setting begins.
class FaultInjection final : public Observer {
 public:
  FaultInjection(const RankFault& fault, const std::string& file) : fault_(fault), file_(file) {}

  void Began(const collective::Call& call) override { Count(call.kind); }
  void BeganMessages(std::span<const collective::Message> messages) override {
    Count(messages.front().fingerprint.operation);
  }

 private:
  void Count(collective::CallKind kind) {
    if (!fault_.CountOperation(kind)) return;
    if (!file_.empty()) static_cast<void>(os::WriteFile(file_, ""));
    os::KillThisProcess();
  }

  RankFault fault_;
  const std::string& file_;  // from the settings; shows that the fault occurred
};

/// Records and logs how long a recovery took until its first result.
class FirstResult final : public Observer {
 public:
  FirstResult(const Origin& origin, Control& control) : origin_(origin), control_(control) {}

  void Ended() override {
    is_done_ = true;
    if (control_.failed_at() != Instant(0)) return;
    control_.MarkFirstResult();
    origin_.process->logger().Log(
        LogLevel::kInfo, Subsystem::kInit, origin_.config.device,
        fmt::format("Recovery - rank {} nranks {}: {}", origin_.config.rank, origin_.config.size,
                    ToText(*control_.recovery())));
  }
  bool is_done() const override { return is_done_; }

 private:
  const Origin& origin_;
  Control& control_;
  bool is_done_ = false;
};

/// Returns the fault that the user requests for this rank.
std::optional<RankFault> FaultOf(const Settings& settings, std::uint32_t self) {
  if (settings.fault.empty()) return std::nullopt;
  const RankFault fault = ParseFault(settings.fault).value();  // Process::Start has read it
  return fault.rank == settings.rank.value_or(self) ? std::optional(fault) : std::nullopt;
}

}  // namespace

std::vector<std::unique_ptr<Observer>> ObserversOf(const Origin& origin,
                                                   const PeerTable& peer_table,
                                                   const Backend& backend, Control& control) {
  std::vector<std::unique_ptr<Observer>> observers;
  const Settings& settings = origin.process->settings();
  const Config& config = origin.config;
  if (const auto fault = FaultOf(settings, config.rank))
    observers.push_back(std::make_unique<FaultInjection>(*fault, settings.fault_file));
  if (ProfilerPlugin* const plugin = origin.process->profiler()) {
    const Profile::Identification identification{
        .communicator = origin.credentials.magic,
        .hosts = static_cast<std::uint32_t>(peer_table.hosts.size()),
        .ranks = config.size,
        .rank = Rank{config.rank}};
    observers.push_back(std::make_unique<Profiling>(*plugin, identification, backend));
  }
  if (control.recovery()) observers.push_back(std::make_unique<FirstResult>(origin, control));
  return observers;
}

}  // namespace ringlet::comm
