#include "os/process/signals.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ringlet::os {

namespace {

bool IsIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

struct SignalQueue::Mask {
  sigset_t set;
};

SignalQueue::SignalQueue(Fd fd, std::unique_ptr<Mask> before)
    : fd_(std::move(fd)), before_(std::move(before)) {}

Result<std::unique_ptr<SignalQueue>> SignalQueue::Open(std::initializer_list<int> signals) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals)
    if (signal != SIGHUP || !IsIgnored(SIGHUP)) ::sigaddset(&set, signal);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid())
    return Error{Code::kSystem, fmt::format("cannot wait for signals: {}", std::strerror(errno)),
                 errno};
  auto before = std::make_unique<Mask>();
  ::pthread_sigmask(SIG_BLOCK, &set, &before->set);
  return std::unique_ptr<SignalQueue>(new SignalQueue(std::move(fd), std::move(before)));
}

SignalQueue::~SignalQueue() {
  ::pthread_sigmask(SIG_SETMASK, &before_->set, nullptr);
}

std::optional<int> SignalQueue::Next() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

std::string SignalName(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

void KillThisProcess() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

}  // namespace ringlet::os
