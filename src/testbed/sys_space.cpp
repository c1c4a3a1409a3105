#include "testbed/sys_space.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/fs/fd.hpp"
#include "os/fs/write_file.hpp"

namespace ringlet::testbed {
namespace {

constexpr const char* kSys = "/sys";
constexpr const char* kCpuInfo = "/proc/cpuinfo";
constexpr mode_t kFolderMode = 0755;

Error NoSpace(std::string_view what) {
  return {Code::kUnsupported,
          fmt::format("cannot make a mount namespace with its own /sys: {}: {}; this needs "
                      "CAP_SYS_ADMIN or user namespaces",
                      what, std::strerror(errno)),
          errno};
}

Error NotMade(const std::string& path) {
  return {Code::kSystem, fmt::format("cannot make {}: {}", path, std::strerror(errno)), errno};
}

/// Maps the user and group to themselves.
Status MapUser(uid_t user, gid_t group) {
  // The kernel requires this for a group map. Kernels before 3.19 do not have the file.
  static_cast<void>(os::WriteFile("/proc/self/setgroups", "deny"));
  RINGLET_TRY(os::WriteFile("/proc/self/uid_map", fmt::format("{0} {0} 1", user)));
  return os::WriteFile("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

Status UnshareMounts() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWNS) == 0) return Ok();
  if (errno != EPERM) return NoSpace("unshare");
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return NoSpace("unshare");
  const Status mapped = MapUser(user, group);
  if (!mapped.ok()) return Error{Code::kUnsupported, mapped.error().message};
  return Ok();
}

/// The new /sys. It keeps the old one below it during its lifetime.
class SysOverlay {
 public:
  explicit SysOverlay(const SysTree& tree) : tree_(tree) {}

  Status Build() {
    old_ = os::Fd(::open(kSys, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!old_.valid()) return NoSpace(kSys);
    if (::mount("ringlet", kSys, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755") != 0)
      return NoSpace("mount");
    const Status filled = Fill();
    if (filled.ok()) return filled;
    if (cpu_info_shown_) ::umount2(kCpuInfo, MNT_DETACH);
    ::umount2(kSys, MNT_DETACH);
    return filled;
  }

 private:
  Status Fill() {
    for (const auto& [path, entry] : tree_.entries) RINGLET_TRY(Make(path, entry));
    for (const auto& [path, entry] : tree_.entries)
      if (entry.type == SysEntry::EntryType::kFolder && entry.others != OtherEntries::kNone)
        RINGLET_TRY(AddOthers(path, entry.others));
    RINGLET_TRY(ShowCpuInfo());
    if (::mount(nullptr, kSys, nullptr,
                MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
      return NotMade(kSys);
    return Ok();
  }

  Status Make(const std::string& path, const SysEntry& entry) {
    switch (entry.type) {
      case SysEntry::EntryType::kFile: return os::WriteFile(path, entry.content);
      case SysEntry::EntryType::kLink:
        if (::symlink(entry.content.c_str(), path.c_str()) != 0) return NotMade(path);
        return Ok();
      case SysEntry::EntryType::kFolder: break;
    }
    if (path != kSys && ::mkdir(path.c_str(), kFolderMode) != 0) return NotMade(path);
    return Ok();
  }

  /// Path of the covered, old /sys.
  std::string Old(std::string_view path) const {
    return fmt::format("/proc/self/fd/{}{}", old_.get(), path.substr(std::strlen(kSys)));
  }

  Status AddOthers(const std::string& folder, OtherEntries others) {
    DIR* const entries = ::opendir(Old(folder).c_str());
    if (entries == nullptr) return Ok();  // the folder does not exist, or is hidden
    Status added = Ok();
    while (const dirent* const entry = added.ok() ? ::readdir(entries) : nullptr) {
      const std::string_view name = entry->d_name;
      const std::string path = fmt::format("{}/{}", folder, name);
      if (name != "." && name != ".." && tree_.entries.count(path) == 0)
        added = AddOther(path, entry->d_type, others);
    }
    ::closedir(entries);
    return added;
  }

  Status AddOther(const std::string& path, unsigned char type, OtherEntries others) {
    const std::string old = Old(path);
    if (type == DT_LNK) return others == OtherEntries::kAll ? CopyLink(old, path) : Ok();
    if (type != DT_DIR && others != OtherEntries::kAll) return Ok();
    if (type == DT_DIR ? ::mkdir(path.c_str(), kFolderMode) != 0
                       : ::mknod(path.c_str(), S_IFREG | 0444, 0) != 0)
      return NotMade(path);
    // Folders without access stay empty.
    if (::mount(old.c_str(), path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0 &&
        errno != EACCES && errno != ENOENT)
      return NotMade(path);
    return Ok();
  }

  static Status CopyLink(const std::string& old, const std::string& path) {
    char target[4096];
    const ssize_t bytes = ::readlink(old.c_str(), target, sizeof target - 1);
    if (bytes < 0) return errno == ENOENT ? Ok() : Status(NotMade(path));
    target[bytes] = '\0';
    if (::symlink(target, path.c_str()) != 0) return NotMade(path);
    return Ok();
  }

  Status ShowCpuInfo() {
    if (tree_.entries.count(std::string(kSysCpuInfo)) == 0) return Ok();
    const std::string file(kSysCpuInfo);
    cpu_info_shown_ = ::mount(file.c_str(), kCpuInfo, nullptr, MS_BIND, nullptr) == 0;
    return cpu_info_shown_ ? Ok() : Status(NotMade(kCpuInfo));
  }

  const SysTree& tree_;
  os::Fd old_;
  bool cpu_info_shown_ = false;
};

}  // namespace

// In a chroot, / may not be a mount point. Its propagation then cannot change.
Status MakeMountsPrivate() {
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0) return Ok();
  if (errno == EINVAL && ::mount("none", kSys, nullptr, MS_REC | MS_SLAVE, nullptr) == 0)
    return Ok();
  const int why = errno;
  if (why != EINVAL)
    return Error{Code::kSystem, fmt::format("cannot mount an own /sys: {}", std::strerror(why)),
                 why};
  return Error{Code::kSystem,
               "cannot mount an own /sys: neither / nor /sys is a mount point here, as in a chroot "
               "without them; mount sysfs at /sys"};
}

Status EnterSysSpace(const SysTree& tree) {
  RINGLET_TRY(UnshareMounts());
  const Status kept = MakeMountsPrivate();
  if (!kept.ok()) return Error{Code::kUnsupported, kept.error().message};
  return SysOverlay(tree).Build();
}

}  // namespace ringlet::testbed
