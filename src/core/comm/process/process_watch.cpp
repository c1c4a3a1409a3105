// The status socket and the metrics of a Process, for external tools.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>

#include "base/log/log.hpp"
#include "base/settings/setting_table.hpp"
#include "comm/process/process.hpp"
#include "os/fs/write_file.hpp"
#include "os/net/resolve.hpp"
#include "os/process/signal_counter.hpp"
#include "watch/server.hpp"
#include "watch/ticker.hpp"

namespace ringlet::comm {
namespace {

// Maximum time that the end of a communicator waits for its process's metrics to be written.
constexpr std::chrono::seconds kMetricsTimeout(2);

// Period at which the thread checks for a signal that requests traces.
constexpr std::chrono::milliseconds kSignalPeriod(100);

/// Sums the counters of several service threads as they arrive.
struct CounterSum {
  std::mutex mutex;
  os::SocketDriver::Counters sum;
  std::size_t pending = 0;
};

/// The status socket: pending questions and their answers. Only the first service thread uses it.
/// Other threads post to it.
class StatusSocket : public std::enable_shared_from_this<StatusSocket> {
 public:
  /// \param process  outlives the driver's thread
  explicit StatusSocket(Process& process) : process_(process) {}

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
    return ToJson(watch::ProcessStatus{.host = process_.host().name,
                                       .pid = process_.host().pid,
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

  Process& process_;
  std::shared_ptr<watch::Server> server_;
  os::SocketDriver::Id id_ = 0;
  std::map<LineId, std::shared_ptr<StatusGathering>> gatherings_;
};

}  // namespace

// A failure here does not fail the process.
void Process::OpenStatusSocket() {
  if (!settings_.metrics_file.empty())
    driver().Post([this] {
      const auto write = [this](const watch::ProcessMetrics& metrics) {
        WriteMetricsFile(metrics);
      };
      driver().Add({.machine = std::make_shared<watch::Ticker>(
                        settings_.metrics_interval, [this, write] { ReadMetrics(write); }),
                    .listeners = {}});
    });
  OpenRas();
  PollDumpSignal();
  if (!settings_.status) return;
  auto listener = os::Listen(Address::Unix(watch::Server::NameOf(host_.pid, process_hash_)));
  if (!listener.ok())
    return NoteOnce("ringlet status cannot query this process: " + listener.error().message);
  const auto shared = std::make_shared<os::Listener>(std::move(listener).value());
  driver().Post(
      [this, shared] { std::make_shared<StatusSocket>(*this)->Open(std::move(*shared)); });
}

// A signal handler may do very little, so this thread polls for signals.
void Process::PollDumpSignal() {
  const auto signal = os::SignalNamed(settings_.dump_signal);
  if (!signal) return;
  if (settings_.dump_dir.empty())
    return WarnOnce("RINGLET_DUMP_SIGNAL is ignored without RINGLET_DUMP_DIR");
  auto opened = os::SignalCounter::Open(*signal);
  if (!opened.ok())
    return WarnOnce(VariableOf(settings_, "DUMP_SIGNAL") + ": " + opened.error().message);
  const auto shared = std::make_shared<os::SignalCounter>(*std::move(opened));  // for the lambda
  const auto look = [this, shared, seen = shared->count()]() mutable {
    const std::uint64_t count = shared->count();
    if (std::exchange(seen, count) == count) return;
    for (const auto& one : watched()) {
      const watch::RankTrace trace = one->Trace("signal");
      const Status written =
          os::ReplaceFile(settings_.dump_dir + "/" + FileNameOf(trace), ToJson(trace));
      if (!written.ok()) WarnOnce("operations are not dumped: " + written.error().message);
    }
  };
  driver().Post([this, look] {
    driver().Add(
        {.machine = std::make_shared<watch::Ticker>(kSignalPeriod, look), .listeners = {}});
  });
}

void Process::Watch(const std::shared_ptr<Watched>& watched) {
  const std::lock_guard lock(watched_mutex_);
  std::erase_if(watched_, [](const auto& one) { return one.expired(); });
  watched_.push_back(watched);
  if (ras_) ras_->Open();
}

// A failure here does not fail the process.
void Process::OpenRas() {
  const bool enabled =
      settings_.ras_enable ? *settings_.ras_enable == 1 : !settings_.ras_addr.empty();
  if (!enabled) return;
  const std::string at = settings_.ras_addr.empty() ? "127.0.0.1:28028" : settings_.ras_addr;
  const auto address = os::Resolve(at);
  if (!address.ok())
    return WarnOnce(VariableOf(settings_, "RAS_ADDR") + ": " + address.error().message);
  if (!address->IsLoopback())
    return WarnOnce(
        fmt::format("{}: {} is not a loopback address, and RAS does not authenticate clients: no "
                    "RAS client is answered; query over ssh",
                    VariableOf(settings_, "RAS_ADDR"), at));
  ras_ = std::make_unique<RasPort>(*this, *address);
}

std::vector<std::shared_ptr<Watched>> Process::watched() {
  const std::lock_guard lock(watched_mutex_);
  std::vector<std::shared_ptr<Watched>> all;
  for (const auto& one : watched_)
    if (auto lives = one.lock()) all.push_back(std::move(lives));
  return all;
}

void Process::ReadMetrics(std::function<void(const watch::ProcessMetrics&)> done) {
  const std::lock_guard lock(services_mutex_);
  const auto sum = std::make_shared<CounterSum>();
  sum->pending = services_.size();
  const auto shared_done =
      std::make_shared<std::function<void(const watch::ProcessMetrics&)>>(std::move(done));
  for (const auto& service : services_)
    service->driver().Post([this, sum, shared_done, driver = &service->driver()] {
      {
        const std::lock_guard counting(sum->mutex);
        sum->sum += driver->counters();
        if (--sum->pending > 0) return;
      }
      watch::ProcessMetrics metrics{.host = host_.name,
                                    .pid = host_.pid,
                                    .control_bytes_sent = sum->sum.bytes_sent,
                                    .control_bytes_received = sum->sum.bytes_received,
                                    .connections_made = sum->sum.lines_dialled,
                                    .connections_accepted = sum->sum.lines_accepted,
                                    .connections_failed = sum->sum.dials_failed,
                                    .strangers_refused = sum->sum.strangers_refused,
                                    .descriptor_shortages = files_.shortages()};
      for (const auto& watched : this->watched())
        metrics.communicators.push_back(watched->Metrics());
      (*shared_done)(metrics);
    });
}

void Process::WriteMetrics() {
  if (settings_.metrics_file.empty()) return;
  const auto written = std::make_shared<std::promise<void>>();
  ReadMetrics([this, written](const watch::ProcessMetrics& metrics) {
    WriteMetricsFile(metrics);
    written->set_value();
  });
  written->get_future().wait_for(kMetricsTimeout);
}

void Process::WriteMetricsFile(const watch::ProcessMetrics& metrics) {
  const std::string path = ExpandLogPath(settings_.metrics_file, host_.name, host_.pid);
  const Status status = os::ReplaceFile(path, ToOpenMetrics(metrics));
  if (!status.ok()) WarnOnce("metrics are not written: " + status.error().message);
}

}  // namespace ringlet::comm
