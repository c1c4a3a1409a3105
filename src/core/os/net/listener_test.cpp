#include "os/net/listener.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "os/net/sockaddr.hpp"

namespace ringlet::os {
namespace {

Fd DialNow(const Address& to) {
  const SocketAddress address = ToSocketAddress(to);
  Fd fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), address.get(), address.bytes) != 0) return Fd();
  return fd;
}

TEST(Listen, ReportsItsPortAndAcceptsCallers) {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_NE(listener->address.port, 0);
  EXPECT_TRUE(listener->address.IsLoopback());
  const Fd caller = DialNow(listener->address);
  EXPECT_TRUE(caller.valid());
  const Fd taken(::accept4(listener->fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_TRUE(taken.valid());
}

TEST(Listen, NeverBlocksAndIsNotInherited) {
  const auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const int nobody = ::accept4(listener->fd.get(), nullptr, nullptr, SOCK_CLOEXEC);
  EXPECT_EQ(nobody, -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_NE(::fcntl(listener->fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Listen, AcceptsAnAbstractName) {
  const Address name = Address::Unix(fmt::format("ringlet listener_test {}", ::getpid()));
  const auto listener = Listen(name);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_EQ(listener->address, name);
  EXPECT_TRUE(DialNow(name).valid());
  const auto second = Listen(name);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().os_errno, EADDRINUSE);
}

TEST(Listen, NamesAPortInUse) {
  const auto first = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(first.ok());
  const auto second = Listen(first->address);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kSystem);
  EXPECT_EQ(second.error().os_errno, EADDRINUSE);
  EXPECT_NE(second.error().message.find("cannot listen on " + ToString(first->address)),
            std::string::npos)
      << second.error().message;
}

TEST(Listen, AFixedPortCanBeUsedAgainAtOnce) {
  auto any = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(any.ok());
  any->fd.Close();
  auto fixed = Listen(any->address);
  ASSERT_TRUE(fixed.ok()) << fixed.error().message;
  Fd caller = DialNow(fixed->address);
  Fd taken(::accept4(fixed->fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(taken.valid());
  taken.Close();  // the side that closes first stays in TIME_WAIT
  caller.Close();
  fixed->fd.Close();
  EXPECT_TRUE(Listen(any->address).ok());
}

TEST(Listen, AnAddressOfAnotherMachineIsAnError) {
  const auto listener = Listen(Address::Ipv4(192, 0, 2, 1, 0));
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.error().os_errno, EADDRNOTAVAIL);
}

}  // namespace
}  // namespace ringlet::os
