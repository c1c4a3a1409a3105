#include "watch/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

namespace ringlet::watch {
namespace {

constexpr std::array<Instant, WaitTimes::kBuckets - 1> kWaitBounds = {
    std::chrono::microseconds(100), std::chrono::milliseconds(1), std::chrono::milliseconds(10),
    std::chrono::milliseconds(100), std::chrono::seconds(1),      std::chrono::seconds(10),
    std::chrono::seconds(100)};

double InSeconds(Instant time) {
  return std::chrono::duration<double>(time).count();
}

/// Escapes backslashes, quotes and newlines of a label's value.
std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text;
}

class Page {
 public:
  explicit Page(const ProcessMetrics& metrics)
      : metrics_(metrics),
        process_(fmt::format("host=\"{}\",pid=\"{}\"", Escaped(metrics.host), metrics.pid)) {}

  /// Adds the header of a family of samples.
  void Family(std::string_view name, std::string_view type, std::string_view unit,
              std::string_view help) {
    text_ += fmt::format("# TYPE ringlet_{} {}\n", name, type);
    if (!unit.empty()) text_ += fmt::format("# UNIT ringlet_{} {}\n", name, unit);
    text_ += fmt::format("# HELP ringlet_{} {}\n", name, help);
  }
  template <typename Number>
  void Sample(std::string_view name, std::string_view labels, Number value) {
    text_ += fmt::format("ringlet_{}{{{}}} {}\n", name, labels, value);
  }
  template <typename Number>
  void ProcessCounter(std::string_view name, std::string_view unit, std::string_view help,
                      Number value) {
    Family(name, "counter", unit, help);
    Sample(fmt::format("{}_total", name), process_, value);
  }
  std::string Labels(const CommunicatorMetrics& communicator) const {
    return fmt::format("{},communicator=\"{}\",rank=\"{}\"", process_,
                       Escaped(communicator.communicator), communicator.rank);
  }
  void ForEach(const std::function<void(const CommunicatorMetrics&, const std::string&)>& visit) {
    for (const CommunicatorMetrics& one : metrics_.communicators) visit(one, Labels(one));
  }
  std::string Take() { return text_ + "# EOF\n"; }

 private:
  const ProcessMetrics& metrics_;
  const std::string process_;
  std::string text_;
};

using OfRank = const CommunicatorMetrics&;

void AddCalls(Page& page) {
  const auto each = [&](const auto& visit) {
    page.ForEach([&](OfRank one, const std::string& labels) {
      for (const CallCounts& call : one.counts.calls)
        visit(call, fmt::format("{},call=\"{}\"", labels, call.call));
    });
  };
  page.Family("operation_size_bytes", "histogram", "bytes",
              "Operations by the bytes of their larger buffer.");
  each([&](const CallCounts& call, const std::string& labels) {
    std::uint64_t so_far = 0;
    for (std::size_t bucket = 0; bucket < kSizeBuckets; ++bucket) {
      so_far += call.sizes[bucket];
      const std::string bound = bucket + 1 == kSizeBuckets
                                    ? "+Inf"
                                    : fmt::format("{}.0", std::uint64_t{1} << (3 * bucket));
      page.Sample("operation_size_bytes_bucket", fmt::format("{},le=\"{}\"", labels, bound),
                  so_far);
    }
    page.Sample("operation_size_bytes_count", labels, so_far);
    page.Sample("operation_size_bytes_sum", labels, call.bytes);
  });
}

void AddWaits(Page& page) {
  page.Family("waited_seconds", "counter", "seconds",
              "Time that a rank has waited for a peer, without waits of some microseconds.");
  page.ForEach([&](OfRank one, const std::string& labels) {
    for (const auto& [peer, time] : one.counts.waited)
      page.Sample("waited_seconds_total", fmt::format("{},peer=\"{}\"", labels, peer),
                  InSeconds(time));
  });
  page.Family("wait_seconds", "histogram", "seconds",
              "Operations by how long they waited, without those of some microseconds.");
  page.ForEach([&](OfRank one, const std::string& labels) {
    const WaitTimes& times = one.counts.wait_times;
    std::uint64_t so_far = 0;
    for (std::size_t bucket = 0; bucket < WaitTimes::kBuckets; ++bucket) {
      so_far += times.waits[bucket];
      const std::string bound =
          bucket < kWaitBounds.size() ? fmt::format("{}", InSeconds(kWaitBounds[bucket])) : "+Inf";
      page.Sample("wait_seconds_bucket", fmt::format("{},le=\"{}\"", labels, bound), so_far);
    }
    page.Sample("wait_seconds_count", labels, so_far);
    page.Sample("wait_seconds_sum", labels, InSeconds(times.total));
  });
}

void AddGauges(Page& page) {
  page.Family("communicator_ranks", "gauge", "", "Ranks of the communicator.");
  page.ForEach([&](OfRank one, const std::string& labels) {
    page.Sample("communicator_ranks", labels, one.ranks);
  });
  page.Family("communicator_failed", "gauge", "", "1: the communicator has failed.");
  page.ForEach([&](OfRank one, const std::string& labels) {
    page.Sample("communicator_failed", labels, one.failed ? 1 : 0);
  });
  page.Family("operations_in_progress", "gauge", "", "Operations that have begun and not ended.");
  page.ForEach([&](OfRank one, const std::string& labels) {
    page.Sample("operations_in_progress", labels, one.in_progress);
  });
}

}  // namespace

std::uint64_t CallCounts::operations() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

void WaitTimes::Add(Instant wait) {
  const auto bound = std::ranges::lower_bound(kWaitBounds, wait);
  ++waits[static_cast<std::size_t>(bound - kWaitBounds.begin())];
  total += wait;
}

std::string ToOpenMetrics(const ProcessMetrics& metrics) {
  Page page(metrics);
  AddCalls(page);
  AddWaits(page);
  AddGauges(page);
  page.ProcessCounter("control_sent_bytes", "bytes", "Bytes sent over control connections.",
                      metrics.control_bytes_sent);
  page.ProcessCounter("control_received_bytes", "bytes", "Bytes received over control connections.",
                      metrics.control_bytes_received);
  page.ProcessCounter("connections_made", "", "Connections that were begun, repeated ones too.",
                      metrics.connections_made);
  page.ProcessCounter("connections_accepted", "", "Connections that were accepted.",
                      metrics.connections_accepted);
  page.ProcessCounter("connections_failed", "",
                      "Connections that were begun and did not come about: most are tried again.",
                      metrics.connections_failed);
  page.ProcessCounter("strangers_refused", "",
                      "Callers that were sent away because they did not prove that they belong to "
                      "the job, or not in time.",
                      metrics.strangers_refused);
  page.ProcessCounter("descriptor_shortages", "",
                      "Times that the process was out of file descriptors.",
                      metrics.descriptor_shortages);
  return page.Take();
}

}  // namespace ringlet::watch
