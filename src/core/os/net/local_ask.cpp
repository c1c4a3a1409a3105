#include "os/net/local_ask.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/error.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kNamesFileBytesMax = std::size_t{64} << 20;

/// A question in progress.
struct PendingQuery {
  Fd fd = {};
  std::string unsent = {};
  std::string heard = {};
  std::optional<Error> error = {};
  bool over = false;

  void Fail(Code code, std::string why) {
    error = Error{code, std::move(why)};
    over = true;
  }
};

// When a process ends, its name becomes free, and another user may take it.
bool IsTrusted(int fd) {
  ucred process{};
  socklen_t bytes = sizeof process;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &process, &bytes) != 0) return false;
  return process.uid == ::geteuid() || process.uid == 0;
}

PendingQuery Begin(const Address& at, const LocalQuestion& question) {
  PendingQuery asked{.unsent = question.text + "\n"};
  const SocketAddress to = ToSocketAddress(at);
  asked.fd = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!asked.fd.valid()) {
    asked.Fail(Code::kSystem, "cannot open a socket: " + ErrnoText(errno));
  } else if (::connect(asked.fd.get(), to.get(), to.bytes) != 0) {
    // EAGAIN: its queue is full. So few callers fill it only if the process has stopped for long.
    asked.Fail(errno == EAGAIN ? Code::kTimeout : Code::kPeerLost,
               fmt::format("cannot reach {}: {}", ToString(at), ErrnoText(errno)));
  } else if (!IsTrusted(asked.fd.get())) {
    asked.Fail(Code::kInvalidArgument, ToString(at) + " belongs to another user");
  }
  return asked;
}

void Advance(PendingQuery& asked, const Address& at, const LocalQuestion& question) {
  if (!asked.unsent.empty()) {
    const ssize_t sent =
        ::send(asked.fd.get(), asked.unsent.data(), asked.unsent.size(), MSG_NOSIGNAL);
    if (sent > 0) asked.unsent.erase(0, static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
      return asked.Fail(Code::kPeerLost, fmt::format("{}: {}", ToString(at), ErrnoText(errno)));
  }
  std::array<char, 65'536> buffer;
  const ssize_t bytes = ::recv(asked.fd.get(), buffer.data(), buffer.size(), 0);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (bytes < 0)
    return asked.Fail(Code::kPeerLost, fmt::format("{}: {}", ToString(at), ErrnoText(errno)));
  if (bytes == 0 && asked.heard.empty())
    return asked.Fail(Code::kPeerLost, ToString(at) + " closed the connection without an answer");
  asked.over = bytes == 0;
  asked.heard.append(buffer.data(), static_cast<std::size_t>(bytes));
  if (asked.heard.size() > question.answer_bytes_max)
    asked.Fail(Code::kProtocol, fmt::format("the answer of {} has more than {} bytes", ToString(at),
                                            question.answer_bytes_max));
}

}  // namespace

std::vector<Result<std::string>> QueryProcesses(const std::vector<Address>& processes,
                                                const LocalQuestion& question) {
  const Instant deadline = Now() + question.timeout;
  std::vector<PendingQuery> all;
  for (const Address& at : processes) all.push_back(Begin(at, question));
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].over) continue;
      const auto events = static_cast<short>(all[i].unsent.empty() ? POLLIN : POLLIN | POLLOUT);
      waiting.push_back({.fd = all[i].fd.get(), .events = events, .revents = 0});
      places.push_back(i);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Now());
    if (waiting.empty() || left.count() <= 0) break;
    ::poll(waiting.data(), waiting.size(), static_cast<int>(left.count()));
    for (std::size_t k = 0; k < waiting.size(); ++k)
      if (waiting[k].revents != 0) Advance(all[places[k]], processes[places[k]], question);
  }
  std::vector<Result<std::string>> answers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].over)
      all[i].Fail(Code::kTimeout, fmt::format("{} does not answer within {} ms",
                                              ToString(processes[i]), question.timeout.count()));
    if (all[i].error)
      answers.emplace_back(*all[i].error);
    else
      answers.emplace_back(std::move(all[i].heard));
  }
  return answers;
}

std::vector<std::string> AbstractNamesIn(std::string_view proc_net_unix) {
  std::set<std::string> names;
  for (const std::string_view line : Split(proc_net_unix, '\n'))
    if (const std::size_t at = line.find(" @"); at != std::string_view::npos)
      names.emplace(line.substr(at + 2));
  return {names.begin(), names.end()};
}

Result<std::vector<std::string>> AbstractNames(const FileTree& files) {
  RINGLET_TRY_ASSIGN(const std::string text, files.Read("/proc/net/unix", kNamesFileBytesMax));
  return AbstractNamesIn(text);
}

}  // namespace ringlet::os
