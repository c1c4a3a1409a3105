#include "os/driver/lines.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

#include "os/clock.hpp"
#include "os/driver/control_socket.hpp"
#include "os/error.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr int kReadsPerTurn = 16;  // then the other connections get their turn
constexpr Instant kLastWords = std::chrono::seconds(5);  // for the peer to read the last data
constexpr std::size_t kPartingMax = 1024;  // bounds the descriptors that strangers use

bool TryAgain(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

Lines::Lines(Poller& poller, HostedMachines& machines, DriverTally& tally)
    : poller_(poller),
      machines_(machines),
      tally_(tally),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kReadBytes)) {}

// ---- actions of machines -----------------------------------------------------------------------

void Lines::Perform(MachineId id, const Dial& dial) {
  const bool is_unix = dial.to.kind == Address::Kind::kUnix;
  OutgoingCall call = CallAddress(dial.to, tally_);
  const auto fail = [&](std::string why) {
    ++tally_.counters.dials_failed;
    machines_.Defer(id, Closed{dial.line, std::move(why)});
  };
  if (call.error != 0) return fail(ErrnoText(call.error));
  const int fd = call.socket.get();
  if (is_unix && machines_.At(id).own_user_only && !IsOwnUser(fd))
    return fail("it belongs to another user");
  const Token token = Add(id, dial.line, std::move(call.socket), is_unix);
  Connection& line = lines_.at(token);
  line.connecting = call.connecting;
  Watch(token, line);
  if (!call.connecting) machines_.Defer(id, Connected{dial.line, is_unix ? PidOf(fd) : 0});
}

void Lines::Perform(MachineId id, Send send) {
  const Token token = TokenOf(id, send.line);
  Connection* line = Find(token);
  if (!line || line->dying) return;  // the machine will receive Closed, or has hung up itself
  if (line->unsent.empty()) dirty_.push_back(token);
  line->unsent.Push(std::move(send.data), std::move(send.descriptors));
  if (line->unsent.bytes() > kUnsentBytesMax)
    DropLine(token, "it reads too slowly: more than 1 GiB waits to be sent to it");
}

void Lines::Perform(MachineId id, const Hangup& hangup) {
  tally_.counters.strangers_refused += hangup.of_stranger ? 1 : 0;
  const Token token = TokenOf(id, hangup.line);
  Connection* line = Find(token);
  if (!line) return;
  RemoveFromOwner(*line, token);
  line->dying = true;
  if (line->connecting) return Drop(token);
  if (line->unsent.empty()) return Part(token);
  Linger(token, *line, kLastWords);
  Watch(token, *line);
}

void Lines::Perform(MachineId id, const Detach& detach) {
  const Token token = TokenOf(id, detach.line);
  Connection* line = Find(token);
  if (!line) return;
  line->detaching = true;
  if (line->unsent.empty()) return HandOver(token);
  Watch(token, *line);
}

void Lines::HandOver(Token token) {
  Connection line = std::move(lines_.at(token));
  lines_.erase(token);
  if (line.in_epoll) poller_.Forget(line.fd.get());
  RemoveFromOwner(line, token);
  machines_.HandOver(line.owner, line.id, std::move(line.fd));
}

void Lines::Abandon(MachineId id, Instant linger) {
  const auto it = of_machines_.find(id);
  if (it == of_machines_.end()) return;
  const OfMachine of = std::move(it->second);
  of_machines_.erase(it);
  for (const auto& [line_id, token] : of.lines) {
    Connection* line = Find(token);
    if (!line) continue;
    line->dying = true;
    if (line->unsent.empty() || line->connecting || linger <= Instant(0)) {
      Drop(token);
    } else {
      Linger(token, *line, linger);
      Watch(token, *line);
    }
  }
}

// ---- the table ---------------------------------------------------------------------------------

Token Lines::Add(MachineId id, LineId line_id, Fd fd, bool is_unix) {
  const Token token = poller_.NewToken();
  Connection& line = lines_[token];
  line.fd = std::move(fd);
  line.owner = id;
  line.id = line_id;
  line.is_unix = is_unix;
  of_machines_[id].lines[line_id] = token;
  return token;
}

Lines::Connection* Lines::Find(Token token) {
  const auto it = lines_.find(token);
  return it == lines_.end() ? nullptr : &it->second;
}

Token Lines::TokenOf(MachineId id, LineId line) const {
  const auto of = of_machines_.find(id);
  if (of == of_machines_.end()) return kWakeToken;
  const auto it = of->second.lines.find(line);
  return it == of->second.lines.end() ? kWakeToken : it->second;
}

// The machine may have another connection with this number by now.
void Lines::RemoveFromOwner(const Connection& line, Token token) {
  const auto of = of_machines_.find(line.owner);
  if (of == of_machines_.end()) return;
  const auto it = of->second.lines.find(line.id);
  if (it != of->second.lines.end() && it->second == token) of->second.lines.erase(it);
}

void Lines::Drop(Token token) {
  const auto it = lines_.find(token);
  if (it == lines_.end()) return;
  RemoveFromOwner(it->second, token);
  if (it->second.parting) --parting_;
  if (it->second.lingers_until) lingering_.erase({*it->second.lingers_until, token});
  lines_.erase(it);
  ++tally_.counters.system_calls;
}

void Lines::DropLine(Token token, std::string why) {
  const Connection* line = Find(token);
  if (!line) return;
  const MachineId owner = line->owner;
  const LineId id = line->id;
  const bool silent = line->dying;
  tally_.counters.dials_failed += line->connecting ? 1 : 0;
  Drop(token);
  if (!silent) machines_.Defer(owner, Closed{id, std::move(why)});
}

void Lines::Watch(Token token, Connection& line) {
  const bool deaf = (line.dying && !line.parting) || line.detaching;
  std::uint32_t wanted = deaf ? 0u : std::uint32_t{EPOLLIN};
  if (line.connecting || !line.unsent.empty()) wanted |= EPOLLOUT;
  if (line.in_epoll && wanted == line.watched) return;
  if (line.in_epoll) {
    poller_.UpdateEvents(line.fd.get(), token, wanted);
  } else {
    poller_.Watch(line.fd.get(), token, wanted);
  }
  line.watched = wanted;
  line.in_epoll = true;
}

// Gives the peer until then to take the unsent data.
void Lines::Linger(Token token, Connection& line, Instant timeout) {
  if (line.lingers_until) lingering_.erase({*line.lingers_until, token});
  line.lingers_until = Now() + timeout;
  lingering_.emplace(*line.lingers_until, token);
}

void Lines::EndLingering(Instant now) {
  while (!lingering_.empty() && lingering_.begin()->first <= now) {
    const Token token = lingering_.begin()->second;
    lingering_.erase(lingering_.begin());
    Drop(token);
  }
}

std::optional<Instant> Lines::NextDue() const {
  if (lingering_.empty()) return std::nullopt;
  return lingering_.begin()->first;
}

// ---- receiving ---------------------------------------------------------------------------------

bool Lines::Admit(MachineId id, Caller caller, bool is_unix) {
  const LineId line_id = of_machines_[id].next_accepted++;
  const Token token = Add(id, line_id, std::move(caller.socket), is_unix);
  machines_.Deliver(id, Accepted{line_id, caller.from});
  if (!caller.said.empty() && Find(token))
    machines_.Deliver(id, Received{line_id, Slice(View(caller.said))});
  // The first bytes have usually arrived, so a caller rejected for them is never watched.
  const bool greeted = Read(token);
  if (Connection* line = Find(token)) Watch(token, *line);
  return greeted;
}

void Lines::OnReady(Token token, std::uint32_t events) {
  Connection* line = Find(token);
  if (!line) return;
  if (line->connecting) return OnConnecting(token, *line);
  if (events & EPOLLOUT) FlushLine(token);
  line = Find(token);
  if (!line) return;
  if (line->parting) return Discard(token);
  if (line->dying || line->detaching) {
    if (events & (EPOLLERR | EPOLLHUP)) DropLine(token, "connection closed");
    return;
  }
  if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) Read(token);
}

void Lines::OnConnecting(Token token, Connection& line) {
  int error = 0;
  socklen_t bytes = sizeof error;
  ::getsockopt(line.fd.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  ++tally_.counters.system_calls;
  if (error != 0) return DropLine(token, ErrnoText(error));
  line.connecting = false;
  const MachineId owner = line.owner;
  const Connected connected{line.id, line.is_unix ? PidOf(line.fd.get()) : 0};
  Watch(token, line);
  machines_.Deliver(owner, connected);
}

// Returns true if any of the received data began with the machine's greeting.
bool Lines::Read(Token token) {
  bool greeted = false;
  for (int i = 0; i < kReadsPerTurn; ++i) {
    Connection* line = Find(token);
    if (!line || line->dying || line->detaching) break;
    if (!ReadOnce(token, *line, greeted)) break;
  }
  return greeted;
}

// Returns true if more data may be readable.
bool Lines::ReadOnce(Token token, Connection& line, bool& greeted) {
  LineReading reading = ReadSome(line.fd.get(), line.is_unix, {buffer_.get(), kReadBytes});
  ++tally_.counters.system_calls;
  if (reading.bytes < 0 && TryAgain(reading.error)) return false;
  if (reading.bytes <= 0) {
    DropLine(token,
             reading.bytes == 0 ? "connection closed by the peer" : ErrnoText(reading.error));
    return false;
  }
  if (reading.descriptors_lost) ++tally_.shortages;
  const auto count = static_cast<std::size_t>(reading.bytes);
  const View bytes(buffer_.get(), count);
  tally_.counters.bytes_received += count;
  greeted = greeted || AsText(bytes).starts_with(machines_.At(line.owner).greeting);
  machines_.Deliver(line.owner, Received{line.id, Slice(bytes), std::move(reading.descriptors)});
  return count == kReadBytes;
}

// ---- sending -----------------------------------------------------------------------------------

void Lines::Flush() {
  for (const Token token : std::exchange(dirty_, {})) FlushLine(token);
}

void Lines::FlushLine(Token token) {
  Connection* line = Find(token);
  if (!line || line->connecting) return;
  while (!line->unsent.empty()) {
    const UnsentQueue::Sent sent = line->unsent.SendSome(line->fd.get(), line->is_unix);
    ++tally_.counters.system_calls;
    tally_.counters.bytes_sent += sent.bytes;
    if (sent.error == 0) continue;
    if (TryAgain(sent.error)) break;
    Read(token);  // a peer that has hung up may have sent the reason
    return DropLine(token, ErrnoText(sent.error));
  }
  if (line->unsent.empty()) {
    if (line->dying) return Part(token);
    if (line->detaching) return HandOver(token);
  }
  Watch(token, *line);
}

// The kernel has all data. If the peer sends more, closing now would reset the connection and
// destroy data in transit. So close for writing, and wait until the peer closes.
void Lines::Part(Token token) {
  Connection& line = lines_.at(token);
  if (line.parting) return;
  int unacknowledged = 0;
  ::ioctl(line.fd.get(), SIOCOUTQ, &unacknowledged);
  ++tally_.counters.system_calls;
  if (line.is_unix || unacknowledged == 0 || parting_ >= kPartingMax) return Drop(token);
  ::shutdown(line.fd.get(), SHUT_WR);
  ++tally_.counters.system_calls;
  line.parting = true;
  ++parting_;
  Linger(token, line, kLastWords);
  Watch(token, line);
}

void Lines::Discard(Token token) {
  const Connection* line = Find(token);
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t bytes = ::recv(line->fd.get(), buffer_.get(), kReadBytes, 0);
    ++tally_.counters.system_calls;
    if (bytes < 0 && TryAgain(errno)) return;
    if (bytes <= 0) return Drop(token);
  }
}

}  // namespace ringlet::os
