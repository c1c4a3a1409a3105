#include "testbed/sys_space.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "testbed/machines_for_test.hpp"

namespace ringlet::testbed {
namespace {

constexpr int kNotAllowed = 77;

std::string Content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Returns the result of a child process in the machine's /sys: 0, or a number for a fault.
int InSpace(const SysTree& tree, const std::function<int()>& look) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Status entered = EnterSysSpace(tree);
    if (!entered.ok()) ::_exit(entered.error().code == Code::kUnsupported ? kNotAllowed : 99);
    ::_exit(look());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class SysSpaceTest : public testing::Test {
 protected:
  SysSpaceTest()
      : computer_(ReadComputerSys(os::FileTree::Open("/").value())),
        tree_(SysTreeOf(SmallMachine(), computer_).value()) {}

  void Expect(const std::function<int()>& look) {
    const int found = InSpace(tree_, look);
    if (found == kNotAllowed) GTEST_SKIP() << "this user may not make mount namespaces";
    EXPECT_EQ(found, 0);
  }

  ComputerSys computer_;
  SysTree tree_;
};

TEST_F(SysSpaceTest, ShowsTheMachineAndKeepsTheComputersNetwork) {
  Expect([&] {
    if (Content("/sys/bus/pci/devices/0000:43:00.0/vendor") != "0x10de\n") return 1;
    if (Content("/sys/class/infiniband/mlx5_0/ports/1/rate") != "200 Gb/sec\n") return 2;
    if (Content("/sys/class/infiniband/mlx5_0/device/numa_node") != "1\n") return 3;
    if (Content("/sys/devices/system/node/online") != "0,1\n") return 4;
    for (const std::string& name : computer_.interfaces)
      if (!IsThere("/sys/class/net/" + name)) return 5;
    if (IsThere("/sys/kernel") != IsThere("/sys/kernel/mm")) return 6;
    if (!IsThere("/sys/devices/system/cpu/online")) return 7;
    return 0;
  });
}

TEST_F(SysSpaceTest, TheMachineIsInvisibleOutside) {
  const bool there = IsThere("/sys/bus/pci/devices/0000:43:00.0");
  Expect([] { return IsThere("/sys/bus/pci/devices/0000:43:00.0") ? 0 : 1; });
  EXPECT_EQ(IsThere("/sys/bus/pci/devices/0000:43:00.0"), there);
}

TEST_F(SysSpaceTest, TheMachineIsReadOnly) {
  Expect([] { return std::ofstream("/sys/new").is_open() ? 1 : 0; });
}

TEST_F(SysSpaceTest, ShowsTheMachinesProcessor) {
  tree_.entries[std::string(kSysCpuInfo)] = {.type = SysEntry::EntryType::kFile,
                                             .content = "vendor_id : Somebody\n"};
  Expect([] { return Content("/proc/cpuinfo") == "vendor_id : Somebody\n" ? 0 : 1; });
}

TEST_F(SysSpaceTest, ShowsAMachineWithinAMachine) {
  Expect([&] {
    topology::HostView view = SmallMachine();
    view.pci[1].ids.device = 0x2330;
    view.cpu.vendor = "GenuineIntel";
    const auto inner = SysTreeOf(view, ReadComputerSys(os::FileTree::Open("/").value()));
    if (!inner.ok() || !EnterSysSpace(*inner).ok()) return 1;
    return Content("/sys/bus/pci/devices/0000:43:00.0/device") == "0x2330\n" ? 0 : 2;
  });
}

TEST_F(SysSpaceTest, AFailedEntryLeavesSysUnchanged) {
  tree_.entries["/sys/bus/pci/devices/0000:43:00.0"] = {};  // not a link, but empty
  tree_.entries["/sys/devices/nowhere/file"] = {.type = SysEntry::EntryType::kFile};
  const bool kernel = IsThere("/sys/class/net/lo");
  const pid_t child = ::fork();
  if (child == 0) {
    const Status entered = EnterSysSpace(tree_);
    if (entered.ok()) ::_exit(1);
    if (entered.error().code == Code::kUnsupported) ::_exit(kNotAllowed);
    if (entered.error().message.find("/sys/devices/nowhere/file") == std::string::npos) ::_exit(2);
    ::_exit(IsThere("/sys/class/net/lo") == kernel ? 0 : 3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "no mount namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace ringlet::testbed
