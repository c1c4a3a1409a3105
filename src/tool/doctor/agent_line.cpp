#include "tool/doctor/agent_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/error.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kLineReadBytes = 65'536;
constexpr std::size_t kLastWordsMax = 400;
constexpr std::size_t kLineReadsAtOnce = 64;

/// Waits for `events`. Returns false at `until`.
bool AwaitEvents(int fd, short events, Instant until) {
  while (true) {
    const Instant left = until - os::Now();
    if (left.count() <= 0) return false;
    pollfd one{.fd = fd, .events = events, .revents = 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
    if (::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(ms, 60'000))) > 0) return true;
  }
}

}  // namespace

bool LineReader::Push(std::string_view bytes) {
  buffer_.append(bytes);
  return buffer_.size() <= kAgentLineMax || buffer_.find('\n') != std::string::npos;
}

std::optional<std::string> LineReader::Take() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

Result<std::optional<std::string>> LineReader::Await(int fd, Instant until) {
  std::array<char, kLineReadBytes> bytes;
  while (true) {
    if (auto line = Take()) return line;
    if (!AwaitEvents(fd, POLLIN, until))
      return Error{Code::kTimeout, "no command of ringlet doctor arrived in time"};
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got == 0) return std::optional<std::string>();
    if (got < 0 && errno != EINTR && errno != EAGAIN)
      return os::SystemError("cannot read a command of ringlet doctor", errno);
    if (got > 0 && !Push({bytes.data(), static_cast<std::size_t>(got)}))
      return Error{Code::kProtocol, fmt::format("a line is longer than {} bytes", kAgentLineMax)};
  }
}

Status WriteLine(int fd, std::string_view line, Instant until) {
  const std::string text = std::string(line) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    if (!AwaitEvents(fd, POLLOUT, until))
      return Error{Code::kTimeout, "the other side does not read"};
    // A writable pipe accepts this many bytes without blocking.
    constexpr std::size_t kPipeBytes = 4096;
    const ssize_t written = ::write(fd, rest.data(), std::min(rest.size(), kPipeBytes));
    if (written > 0)
      rest.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR && errno != EAGAIN)
      return Error{Code::kPeerLost, "the other side has closed the connection"};
  }
  return Ok();
}

Result<AgentLine> AgentLine::Start(std::string host, os::Command command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return os::SystemError("cannot open a pipe", errno);
  const os::Fd input(ends[0]);
  AgentLine line(std::move(host));
  line.write_ = os::Fd(ends[1]);
  command.input = input.get();
  RINGLET_TRY_ASSIGN(os::Child child, os::Child::Start(command));
  line.child_.emplace(std::move(child));
  return line;
}

AgentLine::AgentLine(std::string host, os::Fd socket)
    : host_(std::move(host)), socket_(std::move(socket)) {
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

Status AgentLine::Send(std::string_view line, Instant until) {
  return WriteLine(child_ ? write_.get() : socket_.get(), line, until);
}

void AgentLine::AddDescriptors(std::vector<int>& descriptors) const {
  if (!over_.empty()) return;
  if (!child_) {
    descriptors.push_back(socket_.get());
    return;
  }
  descriptors.push_back(child_->output().get());
}

void AgentLine::ReadErrors() {
  for (std::size_t i = 0; i < kLineReadsAtOnce; ++i) {
    const os::Arrived arrived = os::ReadAvailable(child_->errors(), kLineReadBytes);
    errors_ += arrived.bytes;
    if (errors_.size() > kLastWordsMax) errors_.erase(0, errors_.size() - kLastWordsMax);
    if (arrived.bytes.empty()) return;
  }
}

/// Returns the last error line of ssh or of the program, or how the program ended.
std::string AgentLine::Ending() {
  if (!child_) return "it closed the connection";
  ReadErrors();
  std::string last;
  for (const std::string_view line : Split(errors_, '\n'))
    if (!Trim(line).empty()) last = Printable(Trim(line), kLastWordsMax);
  return last.empty() ? "it ended without any output" : last;
}

void AgentLine::Pump() {
  if (!over_.empty()) return;
  if (child_) ReadErrors();
  for (std::size_t i = 0; i < kLineReadsAtOnce; ++i) {
    const os::Arrived arrived =
        os::ReadAvailable(child_ ? child_->output() : socket_, kLineReadBytes);
    if (!reader_.Push(arrived.bytes)) {
      over_ = fmt::format("it sent a line of more than {} bytes", kAgentLineMax);
      return;
    }
    if (arrived.end) over_ = Ending();
    if (arrived.end || arrived.bytes.empty()) return;
  }
}

}  // namespace ringlet::cli
