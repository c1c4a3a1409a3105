#include "sim/fabric.hpp"

#include <algorithm>

namespace ringlet::sim {

void HostNetwork::Add(HostId host) {
  if (host != kNoHost && host >= hosts_.size()) hosts_.resize(std::size_t{host} + 1);
}

Instant HostNetwork::TimeOf(std::size_t bytes) const {
  // 1 MB/s is one byte per microsecond.
  return Instant(static_cast<std::int64_t>(mb_per_s_ == 0 ? 0 : bytes * 1000 / mb_per_s_));
}

Instant HostNetwork::Leave(HostId host, Instant now, std::size_t bytes) {
  FabricHost& from = hosts_[host];
  from.traffic.bytes_sent += bytes;
  return from.sends_until = std::max(from.sends_until, now) + TimeOf(bytes);
}

Instant HostNetwork::Enter(HostId host, Instant now, std::size_t bytes) {
  FabricHost& to = hosts_[host];
  to.traffic.bytes_received += bytes;
  return to.receives_until = std::max(to.receives_until, now) + TimeOf(bytes);
}

void HostNetwork::Cut(HostId from, HostId to, Instant begin, Instant end) {
  cuts_.push_back({from, to, begin, end});
}

std::optional<Instant> HostNetwork::DepartureTime(HostId from, HostId to, Instant now) const {
  if (hosts_[from].silent || hosts_[to].silent) return std::nullopt;
  for (std::size_t i = 0; i < cuts_.size();) {
    const CutWay& cut = cuts_[i++];
    if (cut.from != from || cut.to != to || now < cut.begin || now >= cut.end) continue;
    if (cut.end == kForEver) return std::nullopt;
    now = cut.end;
    i = 0;  // another cut may have begun by then
  }
  return now;
}

}  // namespace ringlet::sim
