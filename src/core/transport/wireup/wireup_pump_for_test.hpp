// WireupPump: a network in memory, in virtual time. Every test of Wireup is a list of events.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/value/prng.hpp"
#include "transport/wireup/wireup.hpp"

namespace ringlet::transport {

class WireupPump {
 public:
  /// \param seed  splits sent data into pieces; 0 does not split
  explicit WireupPump(std::uint64_t seed = 0) : cuts_(seed), cutting_(seed != 0) {}

  /// Adds a machine that others find at `addresses`. The machine outlives the pump.
  std::size_t Add(Machine& machine, const std::vector<Address>& addresses) {
    hosts_.push_back(Host{&machine, kFirstAcceptedLine, {}, {}});
    for (const Address& address : addresses) doors_[address] = hosts_.size() - 1;
    queue_.push_back({hosts_.size() - 1, Tick{}});
    return hosts_.size() - 1;
  }
  /// Makes dials to `address` hang: they are not answered and never fail.
  void Blackhole(const Address& address) { holes_.push_back(address); }

  /// Records the dialled addresses in order. `dialled` outlives the pump.
  void WatchDials(std::vector<Address>& dialled) { dialled_ = &dialled; }

  /// Opens a stranger's line to `host`.
  LineId Call(std::size_t host) {
    const LineId line = hosts_[host].next_line++;
    queue_.push_back({host, Accepted{line, Address::Ipv4(192, 0, 2, 1, 9)}});
    return line;
  }
  void Push(std::size_t host, Event event) { queue_.push_back({host, std::move(event)}); }

  /// Runs until all machines are finished or the time reaches `until`.
  void Run(Instant until) {
    for (int steps = 0; steps < kStepsMax; ++steps) {
      for (std::size_t h = 0; h < hosts_.size(); ++h) Drain(h);
      if (!queue_.empty()) {
        const auto [host, event] = std::move(queue_.front());
        queue_.pop_front();
        hosts_[host].machine->Handle(event, now_);
        continue;
      }
      if (!Advance(until)) return;
    }
  }

  Instant now() const { return now_; }
  /// Returns the warnings.
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<LineId>& detached(std::size_t host) const { return hosts_[host].detached; }
  std::size_t open_lines(std::size_t host) const { return hosts_[host].peer.size(); }

 private:
  static constexpr int kStepsMax = 200'000;
  using End = std::pair<std::size_t, LineId>;
  struct Host {
    Machine* machine;
    LineId next_line;
    std::map<LineId, End> peer;  // of each open line
    std::vector<LineId> detached;
  };

  bool Advance(Instant until) {
    Instant next = Instant::max();
    for (const Host& host : hosts_)
      if (const auto deadline = host.machine->Deadline()) next = std::min(next, *deadline);
    if (next > until) return false;
    now_ = std::max(now_, next);
    for (std::size_t h = 0; h < hosts_.size(); ++h) queue_.push_back({h, Tick{}});
    return true;
  }

  void Drain(std::size_t h) {
    while (auto action = hosts_[h].machine->PollAction())
      std::visit(Overloaded{
                     [&](const Dial& dial) { DoDial(h, dial); },
                     [&](const Send& send) { DoSend(h, send); },
                     [&](const Hangup& hangup) { DoHangup(h, hangup.line); },
                     [&](const Detach& detach) { hosts_[h].detached.push_back(detach.line); },
                     [&](const Note& note) {
                       if (note.level <= LogLevel::kWarn) notes_.push_back(note.text);
                     },
                 },
                 *action);
  }

  void DoDial(std::size_t h, const Dial& dial) {
    if (dialled_ != nullptr) dialled_->push_back(dial.to);
    if (std::find(holes_.begin(), holes_.end(), dial.to) != holes_.end()) return;
    const auto door = doors_.find(dial.to);
    if (door == doors_.end()) return queue_.push_back({h, Closed{dial.line, "connection refused"}});
    Host& other = hosts_[door->second];
    const LineId line = other.next_line++;
    hosts_[h].peer[dial.line] = {door->second, line};
    other.peer[line] = {h, dial.line};
    queue_.push_back({door->second, Accepted{line, dial.to}});
    queue_.push_back({h, Connected{dial.line}});
  }

  void DoSend(std::size_t h, const Send& send) {
    const auto it = hosts_[h].peer.find(send.line);
    if (it == hosts_[h].peer.end()) return;
    const auto [other, line] = it->second;
    View rest = send.data.bytes;
    Descriptors descriptors = send.descriptors;
    while (!rest.empty()) {
      const std::size_t piece =
          cutting_ ? 1 + cuts_.Below(std::min<std::size_t>(rest.size(), 20)) : rest.size();
      queue_.push_back({other, Received{line, Slice(rest.first(piece)).Owned(),
                                        std::exchange(descriptors, {})}});
      rest = rest.subspan(piece);
    }
  }

  void DoHangup(std::size_t h, LineId line) {
    const auto it = hosts_[h].peer.find(line);
    if (it == hosts_[h].peer.end()) return;
    const auto [other, other_line] = it->second;
    hosts_[h].peer.erase(it);
    hosts_[other].peer.erase(other_line);
    queue_.push_back({other, Closed{other_line, "connection closed by the peer"}});
  }

  Instant now_ = std::chrono::seconds(1);
  Prng cuts_;
  bool cutting_;
  std::deque<Host> hosts_;
  std::map<Address, std::size_t> doors_;
  std::vector<Address> holes_;
  std::deque<std::pair<std::size_t, Event>> queue_;
  std::vector<std::string> notes_;
  std::vector<Address>* dialled_ = nullptr;
};

}  // namespace ringlet::transport
