#include "transport/doorbell_waiter.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace ringlet::transport {
namespace {

using std::chrono::milliseconds;
constexpr auto kLong = std::chrono::seconds(30);

struct SocketPair {
  os::Fd a, b;
};

SocketPair MakeSockets() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {os::Fd(fds[0]), os::Fd(fds[1])};
}

struct Rig {
  explicit Rig(std::chrono::nanoseconds spin = {}) {
    auto made = DoorbellWaiter::Create(word, DoorbellWaiterOptions{spin});
    EXPECT_TRUE(made.ok());
    waiter = std::move(made).value();
  }
  bool Readable() const {
    pollfd item{waiter->descriptor(), POLLIN, 0};
    return ::poll(&item, 1, 0) == 1;
  }
  void ForgetOldEdges() const { waiter->Acknowledge(); }

  DoorbellWord word;
  std::unique_ptr<DoorbellWaiter> waiter;
};

class WaiterWithSpin : public testing::TestWithParam<std::chrono::microseconds> {};
INSTANTIATE_TEST_SUITE_P(Spin, WaiterWithSpin,
                         testing::Values(std::chrono::microseconds(0),
                                         std::chrono::microseconds(50)));

TEST_P(WaiterWithSpin, AWakeBeforeTheWaitEndsIt) {
  Rig rig(GetParam());
  const auto ticket = rig.waiter->Prepare();
  rig.waiter->Wake();
  rig.waiter->Wait(ticket, kLong);
  EXPECT_EQ(rig.word.value.load() & 3u, 0u) << "awake again";
}

TEST_P(WaiterWithSpin, AWakeFromAnotherThreadEndsTheWait) {
  for (const bool sockets : {false, true}) {
    Rig rig(GetParam());
    const SocketPair pair = MakeSockets();
    if (sockets) {
      ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), nullptr).ok());
    }
    std::atomic<bool> flag{false};
    std::thread other([&] {
      flag.store(true);
      rig.waiter->Wake();
    });
    for (;;) {
      const auto ticket = rig.waiter->Prepare();
      if (flag.load()) break;
      rig.waiter->Wait(ticket, kLong);
    }
    other.join();
  }
}

TEST_P(WaiterWithSpin, ATimeoutEndsTheWait) {
  Rig rig(GetParam());
  rig.waiter->Wait(rig.waiter->Prepare(), milliseconds(1));
  const SocketPair pair = MakeSockets();
  ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), nullptr).ok());
  rig.ForgetOldEdges();
  rig.waiter->Wait(rig.waiter->Prepare(), milliseconds(1));
  rig.waiter->Wait(rig.waiter->Prepare(), std::chrono::nanoseconds(0));
}

TEST(DoorbellWaiter, BytesOnASocketAreNewsOnce) {
  Rig rig;
  const SocketPair pair = MakeSockets();
  ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), nullptr).ok());
  rig.ForgetOldEdges();
  const auto ticket = rig.waiter->Prepare();
  ASSERT_EQ(::write(pair.b.get(), "x", 1), 1);
  rig.waiter->Wait(ticket, kLong);
  rig.waiter->PrepareDescriptor();
  EXPECT_FALSE(rig.Readable()) << "unread bytes are no news";
  ASSERT_EQ(::write(pair.b.get(), "y", 1), 1);
  EXPECT_TRUE(rig.Readable());
  rig.waiter->Acknowledge();
  EXPECT_FALSE(rig.Readable());
}

TEST(DoorbellWaiter, AHangUpSetsGone) {
  Rig rig;
  SocketPair pair = MakeSockets();
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  ASSERT_TRUE(rig.waiter->WatchLiveness(pair.a.get(), gone).ok());
  rig.waiter->Wait(rig.waiter->Prepare(), milliseconds(1));
  EXPECT_FALSE(gone->load());
  pair.b.Close();
  rig.waiter->Wait(rig.waiter->Prepare(), kLong);  // from a futex
  EXPECT_TRUE(gone->load());
}

TEST(DoorbellWaiter, AHangUpOfASocketSetsGoneAndBytesDoNot) {
  Rig rig;
  SocketPair pair = MakeSockets();
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), gone).ok());
  ASSERT_EQ(::write(pair.b.get(), "x", 1), 1);
  rig.ForgetOldEdges();
  EXPECT_FALSE(gone->load());
  pair.b.Close();
  rig.waiter->Wait(rig.waiter->Prepare(), kLong);
  EXPECT_TRUE(gone->load());
}

TEST(DoorbellWaiter, TheDescriptorTellsOfRings) {
  Rig rig;
  rig.ForgetOldEdges();
  rig.waiter->button().Ring();
  EXPECT_FALSE(rig.Readable()) << "nobody was prepared";
  for (int round = 0; round < 3; ++round) {
    rig.waiter->PrepareDescriptor();
    EXPECT_FALSE(rig.Readable());
    rig.waiter->button().Ring();
    EXPECT_TRUE(rig.Readable());
    rig.waiter->Acknowledge();
  }
}

}  // namespace
}  // namespace ringlet::transport
