// Two connected TCP sockets of one process.
#pragma once
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "os/fs/fd.hpp"

namespace ringlet::os {

/// A connection over loopback.
struct ConnectionForTest {
  os::Fd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  os::Fd sender{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  os::Fd receiver;

  ConnectionForTest() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener.get(), any, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), any, &size), 0);
    EXPECT_EQ(::connect(sender.get(), any, size), 0);
    receiver = os::Fd(::accept(listener.get(), nullptr, nullptr));
  }
  void Send(std::size_t bytes) const {
    const std::vector<char> data(bytes);
    EXPECT_EQ(::send(sender.get(), data.data(), bytes, MSG_DONTWAIT), std::ssize(data));
  }
  /// Reads all data that the peer sent.
  void Receive(std::size_t bytes) const {
    std::vector<char> data(bytes);
    EXPECT_EQ(::recv(receiver.get(), data.data(), bytes, MSG_WAITALL), std::ssize(data));
  }
  /// Limits the sender's kernel to this rate from now on, except for a first piece.
  void SendSlowly(unsigned bytes_per_second) const {
    EXPECT_EQ(::setsockopt(sender.get(), SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_second,
                           sizeof bytes_per_second),
              0);
  }
};

}  // namespace ringlet::os
