#include "os/fs/shm.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "os/error.hpp"

namespace ringlet::os {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// Blocks SIGXFSZ on the calling thread. The file limit (ulimit -f) applies to shared memory too,
/// and its signal kills a process that exceeds it. With the signal blocked, the call fails instead.
class FileSizeSignalBlock {
 public:
  FileSizeSignalBlock() {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeSignalBlock() {
    const timespec at_once{};
    if (::sigismember(&before_, SIGXFSZ) == 0) ::sigtimedwait(&signal_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  FileSizeSignalBlock(const FileSizeSignalBlock&) = delete;
  FileSizeSignalBlock& operator=(const FileSizeSignalBlock&) = delete;

 private:
  sigset_t signal_, before_;
};

Status Resize(const Fd& fd, std::size_t bytes) {
  const FileSizeSignalBlock guard;
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0) return Ok();
  const int reason = errno;
  return SystemError(
      fmt::format(
          "cannot make shared memory {} bytes large{}", bytes,
          reason == EFBIG ? " (ulimit -f is less: raise it, or set RINGLET_LINKS=tcp)" : ""),
      reason);
}

/// Creates a file without a name in /dev/shm, for a system that denies memfd_create. Allocates all
/// of its memory now, because a later write beyond the memory of /dev/shm would kill the process.
Result<Fd> CreateUnnamedFile(std::size_t bytes, int memfd_error) {
  const FileSizeSignalBlock guard;
  Fd fd(::open("/dev/shm", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid() && ::fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) == 0) return fd;
  const int reason = errno;
  return SystemError(fmt::format("cannot create shared memory, which ranks do not need if "
                                 "NCCL_SHM_DISABLE=1: memfd_create failed ({}), and a file of {} "
                                 "bytes in /dev/shm",
                                 std::strerror(memfd_error), bytes),
                     reason);
}

/// Another process of our user could kill us anyway, so its file need not be sealed.
bool IsUnnamedFileOfOurUser(int seals, const struct stat& about) {
  return seals == F_SEAL_SEAL && about.st_nlink == 0 && about.st_uid == ::geteuid();
}

Result<Shm::ShmIdentity> IdentityOf(const Fd& fd) {
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0) return SystemError("cannot examine shared memory", errno);
  return Shm::ShmIdentity{about.st_dev, about.st_ino};
}

}  // namespace

Result<std::span<std::byte>> Shm::MapWhole(int fd, std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED)
    return SystemError(fmt::format("cannot map {} bytes of shared memory", bytes), errno);
  return std::span(static_cast<std::byte*>(at), bytes);
}

Result<Shm> Shm::Create(std::size_t bytes) {
  if (bytes == 0) return Error{Code::kInvalidArgument, "cannot create shared memory of 0 bytes"};
  Fd fd(::memfd_create("ringlet", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) {
    if (errno != EPERM && errno != EACCES && errno != ENOSYS)
      return SystemError("cannot create shared memory", errno);
    RINGLET_TRY_ASSIGN(fd, CreateUnnamedFile(bytes, errno));
  } else {
    RINGLET_TRY(Resize(fd, bytes));
    if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0)
      return SystemError("cannot seal shared memory", errno);
  }
  RINGLET_TRY_ASSIGN(const std::span<std::byte> mapped, MapWhole(fd.get(), bytes));
  return Shm(std::move(fd), mapped);
}

std::string Shm::WhyInFiles() {
  const Fd fd(::memfd_create("ringlet", MFD_CLOEXEC));
  return fd.valid() ? "" : fmt::format("memfd_create failed: {}", std::strerror(errno));
}

Result<Shm> Shm::Map(Fd received, std::size_t bytes_expected) {
  if (bytes_expected == 0) return Error{Code::kProtocol, "a peer offers 0 bytes of shared memory"};
  const int seals = ::fcntl(received.get(), F_GET_SEALS);
  if (seals < 0)
    return Error{Code::kProtocol, "a peer sent a descriptor that is not shared memory"};
  struct stat about {};
  if (::fstat(received.get(), &about) != 0)
    return SystemError("cannot examine a peer's shared memory", errno);
  if ((seals & kSeals) != kSeals && !IsUnnamedFileOfOurUser(seals, about))
    return Error{Code::kProtocol, "a peer sent shared memory that is not sealed against resizing"};
  if (std::cmp_not_equal(about.st_size, bytes_expected))
    return Error{Code::kProtocol,
                 fmt::format("a peer sent {} bytes of shared memory and promised {}", about.st_size,
                             bytes_expected)};
  RINGLET_TRY_ASSIGN(const std::span<std::byte> mapped, MapWhole(received.get(), bytes_expected));
  return Shm(Fd(), mapped);
}

Result<Shm> Shm::MapOf(std::int32_t pid, std::int32_t descriptor, std::uint64_t device,
                       std::uint64_t inode, std::size_t bytes_expected) {
  const std::string place = fmt::format("/proc/{}/fd/{}", pid, descriptor);
  Fd found(::open(place.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!found.valid()) return SystemError("cannot open " + place, errno);
  RINGLET_TRY_ASSIGN(const ShmIdentity its, IdentityOf(found));
  if (its.device != device || its.inode != inode)
    return Error{Code::kProtocol, place + " is not the memory that was promised"};
  return Map(std::move(found), bytes_expected);
}

Result<Shm::ShmIdentity> Shm::identity() const {
  return IdentityOf(fd_);
}

Shm::Shm(Shm&& other) noexcept
    : fd_(std::move(other.fd_)), bytes_(std::exchange(other.bytes_, {})) {}

Shm& Shm::operator=(Shm&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Shm::~Shm() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void Shm::Prefault(std::size_t offset, std::size_t count) const {
  if (offset >= bytes_.size()) return;
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = offset / page_bytes * page_bytes;
  const std::size_t end = offset + std::min(count, bytes_.size() - offset);
  // MADV_POPULATE_READ is faster than the write variant: it also maps the neighbours of a page that
  // are in memory already. The pages of a shared mapping are writable either way.
  // An old kernel returns EINVAL, which is harmless: see the header.
  [[maybe_unused]] const int result =
      ::madvise(bytes_.data() + begin, end - begin, MADV_POPULATE_READ);
}

Status Shm::Fill() const {
  ::madvise(bytes_.data(), bytes_.size(), MADV_HUGEPAGE);  // EINVAL: no huge pages
  if (::madvise(bytes_.data(), bytes_.size(), MADV_POPULATE_WRITE) == 0 || errno == EINVAL)
    return Ok();
  return SystemError(fmt::format("cannot allocate {} bytes of shared memory", bytes_.size()),
                     errno);
}

void Shm::Discard() const {
  ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
              static_cast<off_t>(bytes_.size()));
}

}  // namespace ringlet::os
