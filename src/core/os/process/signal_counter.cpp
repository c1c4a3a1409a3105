#include "os/process/signal_counter.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>

#include "base/value/text.hpp"
#include "os/process/signals.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kSignals = 65;

// Globals, because a handler can reach nothing else.
std::array<std::atomic<std::uint64_t>, kSignals> counts;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
std::mutex users_mutex;
std::array<int, kSignals> users;

extern "C" void CountSignal(int signal) {
  counts[static_cast<std::size_t>(signal)].fetch_add(1);
}

bool Handles(int signal, void (*handler)(int)) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
         action.sa_handler == handler;
}

}  // namespace

std::optional<int> SignalNamed(std::string_view name) {
  constexpr std::pair<std::string_view, int> kNames[] = {
      {"HUP", SIGHUP}, {"QUIT", SIGQUIT}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
  if (name.size() > 3 && EqualIgnoringCase(name.substr(0, 3), "SIG")) name.remove_prefix(3);
  for (const auto& [known, number] : kNames)
    if (EqualIgnoringCase(name, known)) return number;
  return std::nullopt;
}

Result<SignalCounter> SignalCounter::Open(int signal) {
  const std::lock_guard lock(users_mutex);
  int& count = users[static_cast<std::size_t>(signal)];
  if (count == 0 && !Handles(signal, SIG_DFL))
    return Error{
        Code::kUnsupported,
        fmt::format("the program handles {} itself, and Ringlet leaves its handler in place",
                    SignalName(signal))};
  if (count++ == 0) {
    struct sigaction action {};
    action.sa_handler = CountSignal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
  return SignalCounter(signal);
}

SignalCounter::~SignalCounter() {
  if (signal_ == 0) return;
  const std::lock_guard lock(users_mutex);
  if (--users[static_cast<std::size_t>(signal_)] == 0 && Handles(signal_, CountSignal))
    std::signal(signal_, SIG_DFL);
}

std::uint64_t SignalCounter::count() const {
  return counts[static_cast<std::size_t>(signal_)].load();
}

}  // namespace ringlet::os
