#include "testbed/net_space.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/clock.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "os/process/env.hpp"
#include "programs/child.hpp"

namespace ringlet::testbed {
namespace {

using namespace std::chrono_literals;

class NetSpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeNetSpace({.number = 7, .interfaces = 2, .mbit_per_s = 1000});
    if (!made.ok()) {
      EXPECT_EQ(made.error().code, Code::kUnsupported);
      EXPECT_THAT(made.error().message, testing::HasSubstr("root"));
      GTEST_SKIP() << made.error().message;
    }
    space_ = *std::move(made);
  }
  void Ask(std::uint8_t index);
  NetSpace space_;
};

// Sends "Who has 10.213.INDEX.7? Tell 10.213.INDEX.9", with the MAC 02:00:00:00:00:09.
void NetSpaceTest::Ask(std::uint8_t index) {
  constexpr std::size_t kHeader = 10, kFrame = 42;
  Bytes question(kHeader + kFrame);
  const auto put = [&](std::size_t at, std::initializer_list<unsigned> values) {
    for (const unsigned value : values) question[kHeader + at++] = static_cast<std::byte>(value);
  };
  put(0, {255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 9, 8, 6});
  put(14, {0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 9, 10, 213, index, 9, 0, 0, 0, 0, 0, 0});
  put(38, {10, 213, index, 7});
  WriteFrame(space_.wires[index], question);
  const os::Fd* const wires[] = {&space_.wires[index]};
  auto watch = WireWatch::Make(wires);
  ASSERT_TRUE(watch.ok());
  Bytes frame(kFrameBytesMax);
  const Instant give_up = os::Now() + 10s;
  while (os::Now() < give_up) {
    watch->Await(give_up);
    if (!watch->HasFrame(0)) continue;
    if (ReadFrame(space_.wires[index], frame) < kHeader + kFrame) continue;
    if (frame[kHeader + 12] != std::byte{8} || frame[kHeader + 13] != std::byte{6}) continue;
    EXPECT_EQ(frame[kHeader + 5], std::byte{9}) << "to who asked";
    EXPECT_EQ(frame[kHeader + 6], std::byte{2}) << "which is of nobody's make";
    EXPECT_EQ(frame[kHeader + 10], std::byte{index});
    EXPECT_EQ(frame[kHeader + 11], std::byte{7}) << "from its own MAC";
    return;
  }
  FAIL() << "nobody answered";
}

TEST_F(NetSpaceTest, AnInterfaceAnswersAWrittenFrame) {
  for (const std::uint8_t index : {std::uint8_t{0}, std::uint8_t{1}}) Ask(index);
}
TEST_F(NetSpaceTest, WaitingForAFrameEndsInTime) {
  Bytes frame(kFrameBytesMax);
  const os::Fd* const wires[] = {&space_.wires[0]};
  auto watch = WireWatch::Make(wires);
  ASSERT_TRUE(watch.ok());
  EXPECT_TRUE(watch->HasFrame(0)) << "it may, nobody has looked";
  const Instant until = os::Now() + 100us;
  do {
    while (ReadFrame(space_.wires[0], frame) > 0) {
    }
    watch->Await(until);
  } while (watch->HasFrame(0));
  EXPECT_GE(os::Now(), until);
  watch->Await(until);  // a time in the past does not wait, however often
  watch->Await(Instant(0));
  const Instant later = os::Now() + 100us;
  do {
    while (ReadFrame(space_.wires[0], frame) > 0) {
    }
    watch->Await(later);
  } while (watch->HasFrame(0));
  EXPECT_GE(os::Now(), later) << "a timer that has ended is set again";
}

// Runs in a child, so the root of this process stays. 0: success.
int EnterFromChroot(const std::string& root, bool with_sys, const os::Fd& space, std::string& why) {
  const auto mounts = [&](const char* from, const std::string& to, const char* type,
                          unsigned long flags) {
    std::filesystem::create_directories(to);
    return ::mount(from, to.c_str(), type, flags, nullptr) == 0;
  };
  if (::unshare(CLONE_NEWNS) != 0) return 1;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 && errno != EINVAL) return 2;
  if (!mounts("tmpfs", root, "tmpfs", 0)) return 3;
  const std::string inner = root + "/inner";  // no mount point
  if (!mounts("/proc", inner + "/proc", nullptr, MS_BIND)) return 4;
  if (with_sys && !mounts("/sys", inner + "/sys", nullptr, MS_BIND | MS_REC)) return 5;
  std::filesystem::create_directories(inner + "/sys");
  if (::chroot(inner.c_str()) != 0 || ::chdir("/") != 0) return 6;
  const Status entered = EnterNetSpace(fmt::format("/proc/self/fd/{}", space.get()));
  if (!entered.ok()) why = entered.error().message;
  if (!entered.ok()) return 7;
  int mbit_per_s = 0;
  if (!(std::ifstream("/sys/class/net/eth1/speed") >> mbit_per_s)) return 8;
  return mbit_per_s == 1000 ? 0 : 9;
}

TEST_F(NetSpaceTest, EnteringFromAChrootNeedsSysfsThere) {
  for (const bool with_sys : {true, false}) {
    const os::TempTree tree;
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const os::Fd in(ends[0]);
    os::Fd out(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      std::string why;
      const int code = EnterFromChroot(tree.root(), with_sys, space_.space, why);
      static_cast<void>(!::write(out.get(), why.data(), why.size()));
      ::_exit(code);
    }
    out.Close();
    std::string why(1000, '\0');
    why.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(in.get(), why.data(), 1000), 0)));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), with_sys ? 0 : 7) << why;
    if (!with_sys) {
      EXPECT_THAT(why, testing::HasSubstr("mount sysfs at /sys"));
    }
  }
}

TEST(NetSpace, NamesANamespaceThatCannotBeEntered) {
  const Status status = EnterNetSpace("/nowhere");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr("/nowhere"));
}

TEST(NetSpace, NamesAProgramThatDoesNotExist) {
  EXPECT_THAT(BecomeProgram({"/no/program"}).message, testing::HasSubstr("/no/program"));
}

}  // namespace
}  // namespace ringlet::testbed
