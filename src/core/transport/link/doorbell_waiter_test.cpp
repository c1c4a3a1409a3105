#include "transport/link/doorbell_waiter.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

namespace ringlet::transport {
namespace {

using std::chrono::milliseconds;
constexpr auto kLongWait = std::chrono::seconds(30);

struct SocketPair {
  os::Fd a, b;
};

SocketPair MakeSockets() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds.data()), 0);
  return {os::Fd(fds[0]), os::Fd(fds[1])};
}

std::size_t CountDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct WaiterRig {
  explicit WaiterRig(std::chrono::nanoseconds spin = {}, std::shared_ptr<const os::Fd> ready = {}) {
    auto made = DoorbellWaiter::Create(word, DoorbellWaiterOptions{spin, std::move(ready)});
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

TEST(DoorbellWaiter, OpensDescriptorsOnDemand) {
  const auto ready = std::make_shared<const os::Fd>(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
  const SocketPair pair = MakeSockets();
  const std::size_t before = CountDescriptors();
  WaiterRig in_memory;
  EXPECT_EQ(CountDescriptors(), before) << "it sleeps on its word";
  in_memory.waiter->PrepareDescriptor();
  EXPECT_EQ(CountDescriptors(), before + 1) << "an eventfd, for who polls";
  EXPECT_FALSE(in_memory.Readable());
  in_memory.waiter->Wake();
  EXPECT_TRUE(in_memory.Readable());
  in_memory.waiter->Acknowledge();
  EXPECT_FALSE(in_memory.Readable());
  WaiterRig sockets({}, ready);
  ASSERT_TRUE(sockets.waiter->WatchSocket(pair.a.get(), nullptr).ok());
  EXPECT_EQ(CountDescriptors(), before + 2) << "an epoll, and no eventfd";
}

TEST(DoorbellWaiter, IsWokenThroughAnAlwaysReadableDescriptor) {
  const auto ready = std::make_shared<const os::Fd>(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
  WaiterRig rig({}, ready), other({}, ready);
  const SocketPair pair = MakeSockets(), others = MakeSockets();
  ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), nullptr).ok());
  ASSERT_TRUE(other.waiter->WatchSocket(others.a.get(), nullptr).ok());
  for (int round = 0; round < 100; ++round) {
    rig.ForgetOldEdges();
    other.ForgetOldEdges();
    const auto ticket = rig.waiter->Prepare();
    std::thread waker([&] { rig.waiter->Wake(); });
    rig.waiter->Wait(ticket, kLongWait);
    waker.join();
    rig.waiter->PrepareDescriptor();
    rig.waiter->Wake();
    EXPECT_TRUE(rig.Readable());
    rig.waiter->PrepareDescriptor();
    other.waiter->PrepareDescriptor();
    EXPECT_FALSE(other.Readable()) << "it was another that was rung";
  }
}

// Other processes ring one descriptor for all ranks of this process.
TEST(DoorbellWaiter, IsWokenByOtherProcessesThroughASharedDescriptor) {
  const auto ready = std::make_shared<const os::Fd>(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
  for (const bool offered_first : {true, false}) {
    const auto outside = std::make_shared<const os::Fd>(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    DoorbellWord word;
    const auto waiter =
        DoorbellWaiter::Create(word, {.ready = ready, .rung_from_outside = outside}).value();
    const SocketPair pair = MakeSockets();
    if (offered_first) {
      ASSERT_TRUE(waiter->PrepareOffer().ok());
    }
    ASSERT_TRUE(waiter->WatchSocket(pair.a.get(), nullptr).ok());
    for (int peer = 0; peer < 2; ++peer) ASSERT_TRUE(waiter->PrepareOffer().ok());
    ASSERT_EQ(waiter->event_fd().get(), outside->get());
    const auto readable = [&] {
      pollfd item{waiter->descriptor(), POLLIN, 0};
      return ::poll(&item, 1, 0) == 1;
    };
    for (int round = 0; round < 2; ++round) {
      waiter->Acknowledge();
      waiter->PrepareDescriptor();
      EXPECT_FALSE(readable());
      DoorbellButton(word, outside->get()).Ring();
      EXPECT_TRUE(readable());
    }
  }
}

class WaiterWithSpin : public testing::TestWithParam<std::chrono::microseconds> {};
INSTANTIATE_TEST_SUITE_P(Spin, WaiterWithSpin,
                         testing::Values(std::chrono::microseconds(0),
                                         std::chrono::microseconds(50)));

TEST_P(WaiterWithSpin, AWakeBeforeTheWaitEndsTheWait) {
  WaiterRig rig(GetParam());
  const auto ticket = rig.waiter->Prepare();
  rig.waiter->Wake();
  rig.waiter->Wait(ticket, kLongWait);
  EXPECT_EQ(rig.word.value.load() & 3u, 0u) << "awake again";
}

TEST_P(WaiterWithSpin, AWakeFromAnotherThreadEndsTheWait) {
  for (const bool sockets : {false, true}) {
    WaiterRig rig(GetParam());
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
      rig.waiter->Wait(ticket, kLongWait);
    }
    other.join();
  }
}

TEST_P(WaiterWithSpin, ATimeoutEndsTheWait) {
  WaiterRig rig(GetParam());
  rig.waiter->Wait(rig.waiter->Prepare(), milliseconds(1));
  const SocketPair pair = MakeSockets();
  ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), nullptr).ok());
  rig.ForgetOldEdges();
  rig.waiter->Wait(rig.waiter->Prepare(), milliseconds(1));
  rig.waiter->Wait(rig.waiter->Prepare(), std::chrono::nanoseconds(0));
}

TEST(DoorbellWaiter, BytesOnASocketWakeItOnce) {
  WaiterRig rig;
  const SocketPair pair = MakeSockets();
  ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), nullptr).ok());
  rig.ForgetOldEdges();
  const auto ticket = rig.waiter->Prepare();
  ASSERT_EQ(::write(pair.b.get(), "x", 1), 1);
  rig.waiter->Wait(ticket, kLongWait);
  rig.waiter->PrepareDescriptor();
  EXPECT_FALSE(rig.Readable()) << "unread bytes are no news";
  ASSERT_EQ(::write(pair.b.get(), "y", 1), 1);
  EXPECT_TRUE(rig.Readable());
  rig.waiter->Acknowledge();
  EXPECT_FALSE(rig.Readable());
}

TEST(DoorbellWaiter, APeersHangUpSetsItsFlag) {
  WaiterRig rig;
  SocketPair pair = MakeSockets();
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  ASSERT_TRUE(rig.waiter->WatchLiveness(pair.a.get(), gone).ok());
  rig.waiter->Wait(rig.waiter->Prepare(), milliseconds(1));
  EXPECT_FALSE(gone->load());
  pair.b.Close();
  rig.waiter->Wait(rig.waiter->Prepare(), kLongWait);  // sleeps in a futex
  EXPECT_TRUE(gone->load());
}

TEST(DoorbellWaiter, AHangUpOfASocketSetsItsFlagButBytesDoNot) {
  WaiterRig rig;
  SocketPair pair = MakeSockets();
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  ASSERT_TRUE(rig.waiter->WatchSocket(pair.a.get(), gone).ok());
  ASSERT_EQ(::write(pair.b.get(), "x", 1), 1);
  rig.ForgetOldEdges();
  EXPECT_FALSE(gone->load());
  pair.b.Close();
  rig.waiter->Wait(rig.waiter->Prepare(), kLongWait);
  EXPECT_TRUE(gone->load());
}

// Reports progress for a given number of calls. Has an eventfd or no descriptor.
class FakeSource final : public ProgressSource {
 public:
  explicit FakeSource(os::Fd event) : event_(std::move(event)) {}
  int descriptor() const override { return event_.valid() ? event_.get() : -1; }
  bool Arm() override {
    ++asked;
    return moves == 0 || moves-- == 0;
  }
  int moves = 0, asked = 0;

 private:
  os::Fd event_;
};

TEST(DoorbellWaiter, DoesNotSleepIfItsSourceMadeProgress) {
  WaiterRig rig;
  const auto source = std::make_shared<FakeSource>(MakeSockets().a);
  ASSERT_TRUE(rig.waiter->WatchSource(source).ok());
  rig.ForgetOldEdges();
  source->moves = 2;
  rig.waiter->Wait(rig.waiter->Prepare(), kLongWait);
  EXPECT_EQ(source->asked, 1);
  EXPECT_EQ(source->moves, 1);
  rig.waiter->PrepareDescriptor();
  EXPECT_TRUE(rig.Readable());
}

TEST(DoorbellWaiter, TheDescriptorOfASourceEndsAWait) {
  WaiterRig rig;
  SocketPair pair = MakeSockets();
  const auto source = std::make_shared<FakeSource>(std::move(pair.a));
  ASSERT_TRUE(rig.waiter->WatchSource(source).ok());
  rig.ForgetOldEdges();
  rig.waiter->PrepareDescriptor();
  EXPECT_FALSE(rig.Readable());
  std::thread other([&] { EXPECT_EQ(::write(pair.b.get(), "x", 1), 1); });
  rig.waiter->Wait(rig.waiter->Prepare(), kLongWait);
  other.join();
}

// In a process with a closed standard input, the next opened file is descriptor 0.
TEST(DoorbellWaiter, WatchesDescriptorZero) {
  const os::Fd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  {
    WaiterRig rig;
    SocketPair pair = MakeSockets();
    ASSERT_EQ(::dup2(pair.a.get(), STDIN_FILENO), STDIN_FILENO);
    const auto source = std::make_shared<FakeSource>(os::Fd(STDIN_FILENO));
    ASSERT_TRUE(rig.waiter->WatchSource(source).ok());
    rig.ForgetOldEdges();
    rig.waiter->PrepareDescriptor();
    EXPECT_FALSE(rig.Readable()) << "it need not look from time to time";
    ASSERT_EQ(::write(pair.b.get(), "x", 1), 1);
    EXPECT_TRUE(rig.Readable());
  }
  if (input.valid()) {
    ASSERT_EQ(::dup2(input.get(), STDIN_FILENO), STDIN_FILENO);
  }
}

TEST(DoorbellWaiter, ASourceWithoutADescriptorIsPolled) {
  WaiterRig rig;
  const auto source = std::make_shared<FakeSource>(os::Fd());
  ASSERT_TRUE(rig.waiter->WatchSource(source).ok());
  for (int i = 1; i <= 3; ++i) {
    rig.waiter->Wait(rig.waiter->Prepare(), kLongWait);
    EXPECT_EQ(source->asked, i) << "nobody looks while it sleeps";
  }
  rig.waiter->PrepareDescriptor();
  EXPECT_TRUE(rig.Readable());
}

TEST(DoorbellWaiter, ADestroyedSourceIsForgotten) {
  WaiterRig rig;
  ASSERT_TRUE(rig.waiter->WatchSource(std::make_shared<FakeSource>(os::Fd())).ok());
  rig.waiter->PrepareDescriptor();
  EXPECT_FALSE(rig.Readable());
}

TEST(DoorbellWaiter, TheDescriptorReportsRings) {
  WaiterRig rig;
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
