// Ranks of one test process with real connections: a driver with its thread, and one call.
#pragma once
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "os/clock.hpp"
#include "transport/wireup/connect.hpp"

namespace ringlet::transport {

/// A SocketDriver that runs on its own thread as long as this object lives.
class DriverThread {
 public:
  DriverThread()
      : driver_(std::move(os::SocketDriver::Create()).value()),
        thread_([this] { driver_->Run(); }) {}
  DriverThread(const DriverThread&) = delete;
  DriverThread& operator=(const DriverThread&) = delete;
  ~DriverThread() {
    driver_->Post([this] { driver_->Stop(); });
    thread_.join();
  }
  os::SocketDriver& driver() { return *driver_; }

 private:
  std::unique_ptr<os::SocketDriver> driver_;
  std::thread thread_;
};

/// Returns bytes that no other test of any process uses at the same time.
inline Secret UniqueSeed() {
  static std::atomic<std::uint32_t> drawn{0};
  Writer out;
  out.U64(static_cast<std::uint64_t>(::getpid())).U32(++drawn);
  out.U64(static_cast<std::uint64_t>(os::Now().count()));
  return KeyedHash(Secret{}, {out.view()});
}

inline constexpr Credentials kTestCredentials{0xfeedu, {}};

/// A rank before it connects. By default it differs from the others in its process.
struct TestRank {
  explicit TestRank(std::uint32_t number) {
    neighbour.rank = static_cast<Rank>(number);
    neighbour.host = "testhost";
    neighbour.process_hash = 100 + number;
    auto opened =
        ListenerSet::Open({.interfaces = {Address::Ipv4(127, 0, 0, 1, 0)}, .seed = UniqueSeed()});
    endpoint = std::move(opened).value();
    neighbour.tcp = endpoint.tcp;
    neighbour.unix_socket = endpoint.unix_socket;
  }
  Neighbour neighbour;
  ListenerSet endpoint;
};

/// Returns the request of rank `self` to connect to all other `ranks` within 30 s.
inline ConnectRequest RequestOf(const TestRank& self, const std::vector<TestRank>& ranks,
                                const ConnectOptions& options = {}) {
  ConnectRequest request{.credentials = kTestCredentials,
                         .nonce_seed = UniqueSeed(),
                         .self = self.neighbour,
                         .peers = {},
                         .deadline = os::Now() + std::chrono::seconds(30),
                         .options = options};
  for (const TestRank& rank : ranks)
    if (rank.neighbour.rank != self.neighbour.rank) request.peers.push_back(rank.neighbour);
  return request;
}

/// Connects all `ranks` with one another, each from its own thread.
inline std::vector<Result<std::unique_ptr<Links>>> ConnectAll(std::vector<TestRank>& ranks,
                                                              const ConnectTools& tools,
                                                              const ConnectOptions& options = {}) {
  std::vector<std::optional<Result<std::unique_ptr<Links>>>> slots(ranks.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i, request = RequestOf(ranks[i], ranks, options)]() mutable {
      slots[i] = Connect(std::move(request), std::move(ranks[i].endpoint), tools);
    });
  std::vector<Result<std::unique_ptr<Links>>> all;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    threads[i].join();
    all.push_back(std::move(*slots[i]));
  }
  return all;
}

}  // namespace ringlet::transport
