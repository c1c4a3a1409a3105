// test/integration tests the speed, and its use by a bench.
#include "testbed/net_hosts.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <filesystem>
#include <thread>

namespace ringlet::testbed {
namespace {

sockaddr_in AddressOn(std::uint32_t host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(7000);
  EXPECT_EQ(::inet_pton(AF_INET, NetHosts::AddressOf(host).c_str(), &address.sin_addr), 1);
  return address;
}

/// A datagram socket stays in the namespace of its creating thread.
os::Fd SocketOn(const NetHosts& hosts, std::uint32_t host) {
  os::Fd made;
  std::jthread([&] {
    const os::Fd space(::open(hosts.SpacePath(host).c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::setns(space.get(), CLONE_NEWNET), 0);
    made = os::Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const timeval timeout{.tv_sec = 10, .tv_usec = 0};
    ASSERT_EQ(::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), 0);
    const sockaddr_in own = AddressOn(host);
    ASSERT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  }).join();
  return made;
}

/// Returns true if the datagram arrives unchanged.
bool Arrives(const os::Fd& from, const os::Fd& at, std::uint32_t host, const std::string& data) {
  const sockaddr_in to = AddressOn(host);
  const auto sent = ::sendto(from.get(), data.data(), data.size(), 0,
                             reinterpret_cast<const sockaddr*>(&to), sizeof to);
  std::string got(data.size() + 1, ' ');
  const auto size = ::recv(at.get(), got.data(), got.size(), 0);
  return sent == std::ssize(data) && size == sent && got.substr(0, data.size()) == data;
}

TEST(NetHostsTest, NamespacesDisappearWithTheirObject) {
  EXPECT_EQ(NetHosts::AddressOf(0), "10.213.0.1");
  auto made = NetHosts::Make({.hosts = 2, .mb_per_s = 0, .delay = std::chrono::milliseconds(1)});
  if (!made.ok()) GTEST_SKIP() << made.error().message;
  const std::string path = (*made)->SpacePath(1);
  EXPECT_NE((*made)->SpacePath(0), path);
  EXPECT_TRUE(std::filesystem::exists(path));
  made->reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(NetHostsTest, FramesReachTheirHostOnly) {
  const auto hosts = NetHosts::Make({.hosts = 3, .mb_per_s = 0});
  if (!hosts.ok()) GTEST_SKIP() << hosts.error().message;
  const os::Fd sockets[] = {SocketOn(**hosts, 0), SocketOn(**hosts, 1), SocketOn(**hosts, 2)};
  for (int turn = 0; turn < 30; ++turn)
    for (std::uint32_t from = 0; from < 3; ++from)
      for (std::uint32_t to = 0; to < 3; ++to)
        for (const std::size_t bytes : {1u, 1400u, 9000u})
          ASSERT_TRUE(Arrives(sockets[from], sockets[to], to,
                              std::string(bytes, static_cast<char>('a' + turn % 26))))
              << bytes << " bytes from " << from << " to " << to << " in turn " << turn;
}

}  // namespace
}  // namespace ringlet::testbed
