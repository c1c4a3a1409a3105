#include "transport/wireup/session.hpp"

#include <fmt/format.h>

#include <optional>

namespace ringlet::transport {
namespace {

// The wireup ends itself at its deadline. This covers a driver with a stuck thread.
constexpr Instant kGrace = std::chrono::seconds(5);
// Time for last messages, such as a refusal, to be sent.
constexpr Instant kLinger = std::chrono::seconds(1);

// Shared by the waiting thread and the driver's thread, which may call back slightly longer than
// the former waits.
struct Session {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<Result<std::vector<ConnectedPeer>>> outcome;
  std::map<LineId, os::Fd> sockets;  // invalid once passed to `met`
  os::SocketDriver::Id id = 0;       // only the driver's thread uses it

  // Returns true if there is an outcome and the driver has handed over all of its sockets.
  bool Complete() const {
    if (!outcome) return false;
    if (!outcome->ok()) return true;
    for (const ConnectedPeer& met : **outcome)
      if (!sockets.contains(met.line)) return false;
    return true;
  }
};

os::Hosted MakeHosted(SessionParts parts, const std::shared_ptr<Session>& session) {
  auto wireup = std::make_shared<Wireup>(std::move(parts.wireup));
  os::Hosted hosted;
  hosted.greeting = kGreeting;
  hosted.machine = wireup;
  hosted.listeners = std::move(parts.listeners);
  hosted.entrance = std::move(parts.entrance);
  hosted.note = std::move(parts.note);
  hosted.changed = [wireup, session] {
    if (!wireup->outcome()) return;
    const std::lock_guard lock(session->mutex);
    session->outcome = *wireup->outcome();
    session->changed.notify_all();
  };
  hosted.failed = [session](const Error& error) {
    const std::lock_guard lock(session->mutex);
    session->outcome = error;
    session->changed.notify_all();
  };
  hosted.detached = [wireup, session, given = std::move(parts.met)](LineId line, os::Fd socket) {
    if (auto met = wireup->ConnectedPeerOn(line); given && met)
      given(met->first, ConnectedPeerLine{std::move(met->second), std::move(socket)});
    const std::lock_guard lock(session->mutex);
    session->sockets[line] = std::move(socket);
    session->changed.notify_all();
  };
  return hosted;
}

std::vector<ConnectedPeerLine> Collect(Session& session) {
  std::vector<ConnectedPeerLine> lines;
  for (ConnectedPeer& met : **session.outcome) {
    os::Fd socket = std::move(session.sockets.at(met.line));
    lines.push_back(ConnectedPeerLine{std::move(met), std::move(socket)});
  }
  return lines;
}

}  // namespace

Result<std::vector<ConnectedPeerLine>> RunSession(SessionParts parts, os::SocketDriver& driver,
                                                  const std::stop_token& abort) {
  const Rank self = parts.wireup.self;
  const bool given_away = parts.met != nullptr;
  const Instant deadline = parts.wireup.deadline + kGrace;
  const auto until = std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(deadline));
  const auto session = std::make_shared<Session>();
  const auto hosted = std::make_shared<os::Hosted>(MakeHosted(std::move(parts), session));
  driver.Post([&driver, session, hosted] { session->id = driver.Add(std::move(*hosted)); });

  const std::stop_callback wakes(abort, [&driver] { driver.Post([] {}); });
  driver.RunUntil(
      [&] {
        const std::lock_guard looking(session->mutex);
        return session->Complete() || abort.stop_requested();
      },
      deadline);
  std::unique_lock lock(session->mutex);
  const bool complete =
      session->changed.wait_until(lock, abort, until, [&] { return session->Complete(); });
  lock.unlock();
  driver.Post([&driver, session] { driver.Remove(session->id, kLinger); });
  lock.lock();
  if (abort.stop_requested())
    return Error{Code::kAborted, fmt::format("aborted while rank {} was connecting", Index(self))};
  if (!complete)
    return Error{Code::kTimeout,
                 fmt::format("the service thread of rank {} does not answer", Index(self))};
  if (!session->outcome->ok()) return session->outcome->error();
  if (given_away) return std::vector<ConnectedPeerLine>();
  return Collect(*session);
}

}  // namespace ringlet::transport
