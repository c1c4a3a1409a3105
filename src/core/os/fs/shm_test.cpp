#include "os/fs/shm.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <iterator>

namespace ringlet::os {
namespace {

Fd Duplicate(const Fd& fd) {
  return Fd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
}

TEST(Shm, BothMappingsSeeTheSameBytes) {
  auto mine = Shm::Create(5000);
  ASSERT_TRUE(mine.ok());
  auto theirs = Shm::Map(Duplicate(mine->fd()), 5000);
  ASSERT_TRUE(theirs.ok()) << theirs.error().message;
  std::memcpy(mine->bytes().data() + 4096, "hello", 6);
  EXPECT_STREQ(reinterpret_cast<const char*>(theirs->bytes().data() + 4096), "hello");
  EXPECT_FALSE(theirs->fd().valid());
}

TEST(Shm, SharesWithAChild) {
  auto shm = Shm::Create(4096);
  ASSERT_TRUE(shm.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    shm->bytes()[0] = std::byte{42};
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(shm->bytes()[0], std::byte{42});
}

TEST(Shm, ExceedingTheFileSizeLimitIsAnError) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit less{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &less), 0);
  const auto memory = Shm::Create(8192);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(memory.ok());
  EXPECT_THAT(memory.error().message, testing::HasSubstr("ulimit -f"));
  sigset_t waiting;
  ASSERT_EQ(::sigpending(&waiting), 0);
  EXPECT_EQ(::sigismember(&waiting, SIGXFSZ), 0);
}

/// Makes the kernel answer memfd_create with EPERM from now on, as in a sandbox.
bool DenyMemfd() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(SYS_memfd_create), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {std::size(code), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Returns 0, or the number of the failed step. The calling process can never use memfd again.
int ShareWithoutMemfd() {
  if (!Shm::WhyInFiles().empty()) return 1;
  if (!DenyMemfd()) return 2;
  if (Shm::WhyInFiles() != "memfd_create failed: Operation not permitted") return 3;
  auto mine = Shm::Create(5000);
  if (!mine.ok()) return 4;
  auto sent = Shm::Map(Duplicate(mine->fd()), 5000);
  if (!sent.ok()) return 5;
  mine->bytes()[4999] = std::byte{7};
  if (sent->bytes()[4999] != std::byte{7}) return 6;
  const auto its = mine->identity().value();
  auto found = Shm::MapOf(::getpid(), mine->fd().get(), its.device, its.inode, 5000);
  if (!found.ok() || found->bytes()[4999] != std::byte{7}) return 7;
  if (Shm::Map(Duplicate(mine->fd()), 6000).ok()) return 8;
  struct stat about {};
  if (::fstat(mine->fd().get(), &about) != 0 || about.st_nlink != 0) return 9;  // no file is left
  const auto too_much = Shm::Create(std::size_t{1} << 50);
  if (too_much.ok()) return 10;
  const std::string& why = too_much.error().message;
  return why.find("memfd_create failed (Operation not permitted)") != std::string::npos &&
                 why.find("NCCL_SHM_DISABLE=1") != std::string::npos
             ? 0
             : 11;
}

TEST(Shm, UsesAnUnnamedFileIfMemfdIsDenied) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(ShareWithoutMemfd());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "step " << WEXITSTATUS(status);
}

TEST(Shm, ItsSizeIsFixed) {
  auto shm = Shm::Create(4096);
  ASSERT_TRUE(shm.ok());
  EXPECT_NE(::ftruncate(shm->fd().get(), 100), 0);
  EXPECT_NE(::ftruncate(shm->fd().get(), 10000), 0);
}

TEST(Shm, RefusesUnsealedAndWrongDescriptorsOfAPeer) {
  auto shm = Shm::Create(4096);
  ASSERT_TRUE(shm.ok());
  Fd unsealed(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), 4096), 0);
  EXPECT_EQ(Shm::Map(std::move(unsealed), 4096).error().code, Code::kProtocol);
  EXPECT_EQ(Shm::Map(Fd(::eventfd(0, 0)), 4096).error().code, Code::kProtocol);
  EXPECT_EQ(Shm::Map(Fd(), 4096).error().code, Code::kProtocol);
  EXPECT_EQ(Shm::Map(Duplicate(shm->fd()), 8192).error().code, Code::kProtocol);
  EXPECT_EQ(Shm::Map(Duplicate(shm->fd()), 0).error().code, Code::kProtocol);
  EXPECT_EQ(Shm::Create(0).error().code, Code::kInvalidArgument);
}

TEST(Shm, ReportsTheDefectOfADescriptor) {
  const auto error = [](const char* name, unsigned flags, int bytes) {
    Fd memory(::memfd_create(name, flags));
    EXPECT_EQ(::ftruncate(memory.get(), bytes), 0);
    if (bytes == 0) {
      EXPECT_EQ(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    }
    return Shm::Map(std::move(memory), static_cast<std::size_t>(bytes)).error();
  };
  EXPECT_THAT(error("open", MFD_CLOEXEC | MFD_ALLOW_SEALING, 4096).message,
              testing::HasSubstr("not sealed"));
  EXPECT_EQ(error("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING, 0).code, Code::kProtocol);
  EXPECT_THAT(Shm::Map(Fd(::eventfd(0, 0)), 4096).error().message,
              testing::HasSubstr("not shared memory"));
}

TEST(Shm, MayHaveASingleByte) {
  auto mine = Shm::Create(1);
  ASSERT_TRUE(mine.ok());
  auto theirs = Shm::Map(Duplicate(mine->fd()), 1);
  ASSERT_TRUE(theirs.ok()) << theirs.error().message;
  EXPECT_EQ(theirs->bytes().size(), 1u);
}

TEST(Shm, MapsADescriptorOfAnotherProcess) {
  auto mine = Shm::Create(4096);
  ASSERT_TRUE(mine.ok());
  const Shm::ShmIdentity its = mine->identity().value();
  const auto map = [&](pid_t pid, int descriptor, std::uint64_t inode, std::size_t bytes) {
    return Shm::MapOf(pid, descriptor, its.device, inode, bytes);
  };
  const int descriptor = mine->fd().get();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    auto theirs = map(parent, descriptor, its.inode, 4096);
    if (theirs.ok()) theirs->bytes()[0] = std::byte{7};
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(mine->bytes()[0], std::byte{7});
  EXPECT_EQ(map(parent, descriptor, its.inode + 1, 4096).error().code, Code::kProtocol);
  EXPECT_EQ(map(parent, descriptor, its.inode, 8192).error().code, Code::kProtocol);
  EXPECT_EQ(map(-1, descriptor, its.inode, 4096).error().code, Code::kSystem);
}

TEST(Shm, DiscardedPagesAreZero) {
  auto shm = Shm::Create(3 << 20);
  ASSERT_TRUE(shm.ok());
  ASSERT_TRUE(shm->Fill().ok());
  shm->bytes()[5000] = std::byte{1};
  shm->Discard();
  EXPECT_EQ(shm->bytes()[5000], std::byte{0});
}

TEST(Shm, MovesAndPrefaultsWithinBounds) {
  auto made = Shm::Create(10'000);
  ASSERT_TRUE(made.ok());
  Shm shm = std::move(made).value();
  shm.Prefault(0, 10'000);
  shm.Prefault(5000, 1u << 30);
  shm.Prefault(1u << 30, 1);
  shm.bytes()[9999] = std::byte{1};
  auto other = Shm::Create(1);
  ASSERT_TRUE(other.ok());
  shm = std::move(other).value();
  EXPECT_EQ(shm.bytes().size(), 1u);
}

}  // namespace
}  // namespace ringlet::os
