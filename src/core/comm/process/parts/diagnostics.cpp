#include "comm/process/parts/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>

#include "base/log/log.hpp"
#include "base/settings/setting_table.hpp"
#include "os/fs/write_file.hpp"
#include "os/net/resolve.hpp"
#include "os/process/signal_counter.hpp"
#include "watch/server.hpp"
#include "watch/ticker.hpp"

namespace ringlet::comm {
namespace {

// Delay before the process begins to answer.
constexpr std::chrono::milliseconds kOpenedAfter(20);

// Maximum time that the end of a communicator waits for its process's metrics to be written.
constexpr std::chrono::seconds kMetricsTimeout(2);

// Period at which the thread checks for a signal that requests traces.
constexpr std::chrono::milliseconds kSignalPeriod(100);

/// The status socket: pending questions and their answers. Only the first service thread uses it.
/// Other threads post to it.
class StatusSocket : public std::enable_shared_from_this<StatusSocket> {
 public:
  /// \param process  outlives the driver's thread
  explicit StatusSocket(Diagnostics& process) : process_(process) {}

  void Open(os::Listener listener) {
    server_ = std::make_shared<watch::Server>(watch::Server::Answers{
        .ask = [this](LineId caller, std::string_view question) { return Ask(caller, question); },
        .give_up = [this](LineId caller) { return GiveUp(caller); }});
    os::Hosted hosted{.machine = server_, .listeners = {}, .own_user_only = true};
    hosted.listeners.push_back(std::move(listener));
    hosted.changed = [keeper = shared_from_this()] {};
    id_ = process_.driver().Add(std::move(hosted));
  }

 private:
  std::optional<std::string> Ask(LineId caller, std::string_view question) {
    if (question == "status" || question == "status peers") {
      Gather(caller, question == "status peers");
      return std::nullopt;
    }
    if (question == "trace") return Traces();
    if (question == "metrics") {
      process_.ReadMetrics([weak = weak_from_this(), caller](const watch::ProcessMetrics& metrics) {
        if (const auto self = weak.lock()) self->Tell(caller, ToOpenMetrics(metrics));
      });
      return std::nullopt;
    }
    return "unknown question: send status, status peers, trace or metrics\n";
  }

  void Gather(LineId caller, bool asks_peers) {
    const auto watched = process_.watched();
    if (watched.empty()) return Tell(caller, StatusText({}));
    const auto complete = [weak = weak_from_this(), caller] {
      if (const auto self = weak.lock()) self->Tell(caller);
    };
    const auto gathering = std::make_shared<StatusGathering>(watched.size(), complete);
    gatherings_[caller] = gathering;
    for (std::size_t part = 0; part < watched.size(); ++part)
      watched[part]->Look(gathering, part, asks_peers);
  }

  std::string StatusText(std::vector<watch::CommunicatorStatus> communicators) const {
    std::erase_if(communicators, [](const auto& one) { return one.communicator.empty(); });
    return ToJson(watch::ProcessStatus{.host = process_.facts().host.name,
                                       .pid = process_.facts().host.pid,
                                       .communicators = std::move(communicators)});
  }

  // Returns the traces of all communicators. A line with the length precedes each.
  std::string Traces() const {
    std::string text;
    for (const auto& watched : process_.watched()) {
      const std::string trace = ToJson(watched->Trace("request"));
      text += std::to_string(trace.size()) + "\n" + trace;
    }
    return text;
  }

  std::string GiveUp(LineId caller) {
    const auto it = gatherings_.find(caller);
    if (it == gatherings_.end()) return "no answer in time\n";
    const std::string text = StatusText(it->second->Parts());
    gatherings_.erase(it);
    return text;
  }

  // Any thread.
  void Tell(LineId caller, std::optional<std::string> text = {}) {
    process_.driver().Post([self = shared_from_this(), caller, text = std::move(text)] {
      self->server_->Answer(caller, text ? *text : self->GiveUp(caller));
      self->process_.driver().RequestTick(self->id_);
    });
  }

  Diagnostics& process_;
  std::shared_ptr<watch::Server> server_;
  os::SocketDriver::Id id_ = 0;
  std::map<LineId, std::shared_ptr<StatusGathering>> gatherings_;
};

}  // namespace

bool Diagnostics::IsOpenAtOnce() const {
  const Settings& settings = facts_.settings;
  return !settings.metrics_file.empty() || !settings.dump_signal.empty() ||
         settings.ras_enable.value_or(0) == 1 || !settings.ras_addr.empty();
}

// A failure here does not fail the process.
void Diagnostics::CreateDumpFolder() {
  const Settings& settings = facts_.settings;
  if (settings.dump_dir.empty()) return;
  const Status created = os::CreateFolder(settings.dump_dir);
  if (!created.ok())
    logger_.WarnOnce(fmt::format("{}: {}; this process writes no traces: name another folder",
                                 VariableOf(settings, "DUMP_DIR"), created.error().message));
}

// A failure here does not fail the process.
void Diagnostics::Open() {
  std::call_once(opens_once_, [this] {
    const auto write = [this](const watch::ProcessMetrics& metrics) { WriteMetricsFile(metrics); };
    if (!facts_.settings.metrics_file.empty())
      Repeat(facts_.settings.metrics_interval, [this, write] { ReadMetrics(write); });
    OpenRas();
    PollDumpSignal();
    OpenStatusSocket();
  });
}

void Diagnostics::OpenLater() {
  if (opens_later_.exchange(true)) return;
  driver().PostAfter(kOpenedAfter, [this] { Open(); });
}

void Diagnostics::Repeat(std::chrono::milliseconds period, std::function<void()> work) {
  driver().Post([this, period, work = std::move(work)] {
    driver().Add({.machine = std::make_shared<watch::Ticker>(period, work), .listeners = {}});
  });
}

void Diagnostics::OpenStatusSocket() {
  if (!facts_.settings.status) return;
  auto listener =
      os::Listen(Address::Unix(watch::Server::NameOf(facts_.host.pid, facts_.process_hash)));
  if (!listener.ok())
    return logger_.NoteOnce("ringlet status cannot query this process: " +
                            listener.error().message);
  const auto shared = std::make_shared<os::Listener>(std::move(listener).value());
  driver().Post(
      [this, shared] { std::make_shared<StatusSocket>(*this)->Open(std::move(*shared)); });
}

// A signal handler may do very little, so this thread polls for signals.
void Diagnostics::PollDumpSignal() {
  const Settings& settings = facts_.settings;
  const auto signal = os::SignalNamed(settings.dump_signal);
  if (!signal) return;
  if (settings.dump_dir.empty())
    return logger_.WarnOnce("RINGLET_DUMP_SIGNAL is ignored without RINGLET_DUMP_DIR");
  auto opened = os::SignalCounter::Open(*signal);
  if (!opened.ok())
    return logger_.WarnOnce(VariableOf(settings, "DUMP_SIGNAL") + ": " + opened.error().message);
  const auto shared = std::make_shared<os::SignalCounter>(*std::move(opened));  // for the lambda
  Repeat(kSignalPeriod, [this, &settings, shared, seen = shared->count()]() mutable {
    const std::uint64_t count = shared->count();
    if (std::exchange(seen, count) == count) return;
    for (const auto& one : watched()) {
      const watch::RankTrace trace = one->Trace("signal");
      const Status written =
          os::ReplaceFile(settings.dump_dir + "/" + FileNameOf(trace), ToJson(trace));
      if (!written.ok()) logger_.WarnOnce("operations are not dumped: " + written.error().message);
    }
  });
}

void Diagnostics::Watch(const std::shared_ptr<Watched>& watched) {
  const std::lock_guard lock(watched_mutex_);
  std::erase_if(watched_, [](const auto& one) { return one.expired(); });
  watched_.push_back(watched);
  if (ras_) ras_->Open();
}

// A failure here does not fail the process.
void Diagnostics::OpenRas() {
  const Settings& settings = facts_.settings;
  const bool enabled = settings.ras_enable ? *settings.ras_enable == 1 : !settings.ras_addr.empty();
  if (!enabled) return;
  const std::string at = settings.ras_addr.empty() ? "127.0.0.1:28028" : settings.ras_addr;
  const auto address = os::Resolve(at);
  if (!address.ok())
    return logger_.WarnOnce(VariableOf(settings, "RAS_ADDR") + ": " + address.error().message);
  if (!address->IsLoopback())
    return logger_.WarnOnce(
        fmt::format("{}: {} is not a loopback address, and RAS does not authenticate clients: no "
                    "RAS client is answered; query over ssh",
                    VariableOf(settings, "RAS_ADDR"), at));
  ras_ = std::make_unique<RasPort>(*this, *address);
}

std::vector<std::shared_ptr<Watched>> Diagnostics::watched() const {
  const std::lock_guard lock(watched_mutex_);
  std::vector<std::shared_ptr<Watched>> all;
  for (const auto& one : watched_)
    if (auto lives = one.lock()) all.push_back(std::move(lives));
  return all;
}

void Diagnostics::ReadMetrics(std::function<void(const watch::ProcessMetrics&)> done) {
  services_.ReadCounters([this, done = std::move(done)](const Services::Counters& sum) {
    watch::ProcessMetrics metrics{.host = facts_.host.name,
                                  .pid = facts_.host.pid,
                                  .control_bytes_sent = sum.bytes_sent,
                                  .control_bytes_received = sum.bytes_received,
                                  .connections_made = sum.lines_dialled,
                                  .connections_accepted = sum.lines_accepted,
                                  .connections_failed = sum.dials_failed,
                                  .strangers_refused = sum.strangers_refused,
                                  .descriptor_shortages = facts_.files.shortages()};
    for (const auto& watched : this->watched()) metrics.communicators.push_back(watched->Metrics());
    done(metrics);
  });
}

void Diagnostics::WriteMetrics() {
  if (facts_.settings.metrics_file.empty()) return;
  const auto written = std::make_shared<std::promise<void>>();
  ReadMetrics([this, written](const watch::ProcessMetrics& metrics) {
    WriteMetricsFile(metrics);
    written->set_value();
  });
  written->get_future().wait_for(kMetricsTimeout);
}

void Diagnostics::WriteMetricsFile(const watch::ProcessMetrics& metrics) {
  const std::string path =
      ExpandLogPath(facts_.settings.metrics_file, facts_.host.name, facts_.host.pid);
  const Status status = os::ReplaceFile(path, ToOpenMetrics(metrics));
  if (!status.ok()) logger_.WarnOnce("metrics are not written: " + status.error().message);
}

}  // namespace ringlet::comm
