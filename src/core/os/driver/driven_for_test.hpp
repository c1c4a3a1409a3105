// Machines with behaviour that a test chooses, on a driver that the test runs.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/driver/socket_driver.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::os {

// A machine that a test controls: it emits the test's actions and records its events.
class ScriptedMachine final : public Machine {
 public:
  void Handle(const Event& event, Instant) override {
    std::visit(Overloaded{
                   [&](const Connected& e) { connected.push_back(e.line); },
                   [&](const Accepted& e) { accepted.push_back(e.line); },
                   [&](const Received& e) {
                     heard[e.line].insert(heard[e.line].end(), e.data.bytes.begin(),
                                          e.data.bytes.end());
                     for (const Descriptor& one : e.descriptors) descriptors.push_back(one);
                   },
                   [&](const Closed& e) { closed[e.line] = e.why; },
                   [&](const Tick&) { ++ticks; },
               },
               event);
    if (on_event) on_event(event);
  }
  std::optional<Instant> Deadline() const override { return deadline; }
  bool Finished() const override { return false; }
  bool Accepting() const override { return accepting; }

  void Perform(Action action) { Emit(std::move(action)); }
  void SendText(LineId line, std::string_view text) {
    const View bytes = AsView(text);
    Perform(Send{line, Slice(Share(Bytes(bytes.begin(), bytes.end())))});
  }
  std::string Heard(LineId line) const {
    const auto it = heard.find(line);
    return it == heard.end() ? "" : std::string(AsText(it->second));
  }

  std::function<void(const Event&)> on_event = {};
  std::vector<LineId> connected, accepted;
  std::map<LineId, Bytes> heard;
  std::map<LineId, std::string> closed;
  Descriptors descriptors;
  int ticks = 0;
  bool accepting = true;
  std::optional<Instant> deadline;
};

inline constexpr std::size_t kMuch = std::size_t{24} << 20;  // more than the kernel's buffers hold

inline Bytes Much() {
  Bytes bytes(kMuch);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 131 >> 7);
  return bytes;
}

inline std::size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd"), end;
  return static_cast<std::size_t>(std::distance(all, end));
}

class DriverTest : public testing::Test {
 protected:
  DriverTest() {
    auto created = SocketDriver::Create();
    EXPECT_TRUE(created.ok());
    driver = *std::move(created);
  }

  // Serves events until `ready`. The bound only matters for a broken driver: `ready` is checked
  // after wake-ups only, so the test notices an event that does not wake a thread.
  template <typename Ready>
  void Await(const char* what, Ready ready) {
    const Instant give_up = SocketDriver::Now() + std::chrono::seconds(60);
    while (!ready() && SocketDriver::Now() < give_up) driver->Step(give_up - SocketDriver::Now());
    ASSERT_TRUE(ready()) << "waited for: " << what;
  }

  SocketDriver::Id Host(const std::shared_ptr<ScriptedMachine>& puppet) {
    return driver->Add({.machine = puppet, .listeners = {}});
  }
  // Serves all ready events without waiting for more.
  void Settle() {
    for (int i = 0; i < 20; ++i) driver->Step(Instant(0));
  }

  std::unique_ptr<SocketDriver> driver;
};

class ConversationTest : public DriverTest, public testing::WithParamInterface<bool> {
 protected:
  bool over_unix() const { return GetParam(); }
  Listener Open() {
    static int count = 0;
    auto listener =
        Listen(over_unix() ? Address::Unix(fmt::format("ringlet driver {} {}", ::getpid(), ++count))
                           : Address::Ipv4(127, 0, 0, 1, 0));
    EXPECT_TRUE(listener.ok()) << listener.error().message;
    return *std::move(listener);
  }
  // Adds two machines; `caller` has line 1 to `host`.
  void Introduce() {
    Listener listener = Open();
    address = listener.address;
    std::vector<Listener> listeners;
    listeners.push_back(std::move(listener));
    host_id = driver->Add({.machine = host,
                           .listeners = std::move(listeners),
                           .changed = {},
                           .detached =
                               [this](LineId id, Fd fd) {
                                 if (on_detached) on_detached(id);
                                 detached[id] = std::move(fd);
                               },
                           .note = {}});
    caller->Perform(Dial{1, address});
    caller_id = Host(caller);
    Await("a connection", [&] { return !caller->connected.empty() && !host->accepted.empty(); });
    line = host->accepted.front();
  }
  // Returns a socket of the test itself that has called `host`; the driver does not serve it.
  Fd Raw(int room_bytes = 0) {
    const SocketAddress to = ToSocketAddress(address);
    Fd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (room_bytes > 0) {
      EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof room_bytes), 0);
    }
    EXPECT_EQ(::connect(fd.get(), to.get(), to.bytes), 0);
    const std::size_t before = host->accepted.size();
    Await("a raw caller", [&] { return host->accepted.size() > before; });
    return fd;
  }

  Address address;
  std::shared_ptr<ScriptedMachine> host = std::make_shared<ScriptedMachine>(),
                                   caller = std::make_shared<ScriptedMachine>();
  SocketDriver::Id host_id = 0, caller_id = 0;
  LineId line = 0;  // the host's end
  std::map<LineId, Fd> detached;
  std::function<void(LineId)> on_detached = {};
};

}  // namespace ringlet::os
