#include "os/driver/watched_listeners.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "os/driver/control_socket.hpp"
#include "os/net/caller_filter.hpp"
#include "os/net/sockaddr.hpp"
#include "os/process/forks.hpp"

namespace ringlet::os {
namespace {

constexpr int kAcceptsPerTurn = 256;
constexpr std::uint32_t kStrangersMax = 32;

/// A descriptor and a file to close when none is left, so that a caller can be turned away.
Fd OpenSpare() {
  return Fd(::eventfd(0, EFD_CLOEXEC));  // opens faster than /dev/null
}

bool IsUnix(const Listener& listener) {
  return listener.address.kind == Address::Kind::kUnix;
}

}  // namespace

WatchedListeners::WatchedListeners(Poller& poller, HostedMachines& machines, Lines& lines,
                                   DriverTally& tally)
    : poller_(poller),
      machines_(machines),
      lines_(lines),
      tally_(tally),
      holds_callers_(KernelHoldsCallers()),
      spare_(OpenSpare()) {}

void WatchedListeners::Open(MachineId id, std::vector<Listener> listeners) {
  for (Listener& listener : listeners) {
    const Token token = poller_.NewToken();
    const int fd = listener.fd.get();
    if (!IsUnix(listener)) {
      TuneControlSocket(fd, tally_);
      if (HasGreeted(id)) DeferSilentCallers(fd);
    }
    CloseInChildren(fd);
    poller_.Watch(fd, token, EPOLLIN);
    listeners_.emplace(token, OpenListener{std::move(listener), id});
    of_machines_[id].push_back(token);
  }
}

void WatchedListeners::Close(MachineId id) {
  const auto of = of_machines_.extract(id);
  if (!of) return;
  for (const Token token : of.mapped()) {
    // Other holders of a copy of the listener would keep it in the epoll.
    poller_.Forget(listeners_.at(token).listener.fd.get());
    listeners_.erase(token);
  }
}

void WatchedListeners::SetAccepting(MachineId id, bool accepting) {
  const auto of = of_machines_.find(id);
  if (of == of_machines_.end()) return;
  for (const Token token : of->second)
    poller_.UpdateEvents(listeners_.at(token).listener.fd.get(), token, accepting ? EPOLLIN : 0u);
}

void WatchedListeners::OnReady(Token token) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    const auto it = listeners_.find(token);  // a callback may have closed it
    if (it == listeners_.end() || !machines_.IsAccepting(it->second.owner)) return;
    if (!AcceptOne(token, it->second)) return;
  }
}

// Returns false if no further caller can be accepted.
bool WatchedListeners::AcceptOne(Token token, OpenListener& open) {
  SocketAddress from;
  from.bytes = sizeof from.storage;
  Fd fd = OpenForThisProcess([&] {
    return ::accept4(open.listener.fd.get(), from.get(), &from.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
  });
  ++tally_.counters.system_calls;
  if (!fd.valid() && IsShortage(errno)) RejectCaller(open);
  if (!fd.valid()) return false;
  ++tally_.counters.lines_accepted;
  const MachineId owner = open.owner;
  if (machines_.At(owner).own_user_only && !IsOwnUser(fd.get())) return true;
  if (open.guarded) AdmitAll(fd.get());
  const bool is_unix = IsUnix(open.listener);
  const bool greeted =
      lines_.Admit(owner, {std::move(fd), FromSocketAddress(from), Bytes()}, is_unix);
  const auto it = listeners_.find(token);
  if (!is_unix && !greeted && it != listeners_.end()) OnUnidentifiedCaller(it->second);
  return true;
}

// No descriptor is left. Turning the caller away avoids endless wake-ups for it. It dials again.
void WatchedListeners::RejectCaller(const OpenListener& open) {
  ++tally_.shortages;
  spare_.Close();
  Fd(::accept4(open.listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)).Close();
  spare_ = OpenSpare();
  machines_.Log(
      open.owner,
      Note{LogLevel::kWarn, "out of file descriptors: a caller was turned away (raise ulimit -n)"});
}

bool WatchedListeners::HasGreeted(MachineId id) const {
  return holds_callers_ && machines_.At(id).greeting.size() == kGreetingBytes;
}

// The machine logs the first ones with their addresses. The kernel keeps very many away, because
// calling is cheaper than accepting.
void WatchedListeners::OnUnidentifiedCaller(OpenListener& open) {
  if (open.guarded || !HasGreeted(open.owner) || ++open.strangers < kStrangersMax) return;
  open.guarded = AdmitOnly(open.listener.fd.get(), machines_.At(open.owner).greeting);
  open.strangers = 0;
  tally_.counters.system_calls += 1;
  if (!open.guarded) return;
  machines_.Log(
      open.owner,
      Note{LogLevel::kWarn,
           fmt::format(
               "{} connections at {} did not begin with Ringlet's protocol: the kernel drops what "
               "such connections send from now on",
               kStrangersMax, ToString(open.listener.address))});
}

}  // namespace ringlet::os
