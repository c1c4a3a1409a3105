#include "tool/run/input_pump.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ringlet::cli {
namespace {

constexpr std::size_t kPieceBytes = 4096;  // at least a line of a terminal

/// Returns true if reading is allowed. In the background it would stop this process.
bool MayRead(int from) {
  return ::isatty(from) == 0 || ::tcgetpgrp(from) == ::getpgrp();
}

bool IsReadable(int from) {
  pollfd one{from, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

}  // namespace

Result<InputPump> InputPump::Open(int from) {
  // A socket pair, because writing to a pipe without a reader raises SIGPIPE.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Error{Code::kSystem, fmt::format("cannot open a socket pair: {}", std::strerror(errno)),
                 errno};
  return InputPump(from, os::Fd(ends[0]), os::Fd(ends[1]));
}

void InputPump::AddDescriptor(std::vector<int>& descriptors) const {
  if (!end_ && pending_.empty() && MayRead(from_)) descriptors.push_back(from_);
}

void InputPump::Pump() {
  if (end_) return;
  if (pending_.empty()) {
    if (!MayRead(from_) || !IsReadable(from_)) return;
    std::array<char, kPieceBytes> piece{};
    const ssize_t got = ::read(from_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) return;
    end_ = got <= 0;
    if (got > 0) pending_.assign(piece.data(), static_cast<std::size_t>(got));
  }
  Write();
}

void InputPump::Write() {
  if (!pending_.empty()) {
    const ssize_t sent =
        ::send(writer_.get(), pending_.data(), pending_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) pending_.erase(0, static_cast<std::size_t>(sent));
    // Discards input that the program does not read.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) end_ = true;
  }
  if (end_) writer_.Close();
}

}  // namespace ringlet::cli
