#include "os/fs/rooted_walk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/value/text.hpp"

namespace ringlet::os {
namespace {

constexpr int kLinksMax = 40;            // MAXSYMLINKS in the kernel
constexpr std::size_t kPartsMax = 4096;  // of a path after its links are replaced

Fd Failed(int error) {
  errno = error;
  return Fd();
}

class Walk {
 public:
  Walk(int root, std::string_view path) : root_(root) { PushFront(path); }

  Fd Open(int flags) {
    while (!parts_.empty()) {
      const bool last = parts_.size() == 1;
      if (last && (flags & O_NOFOLLOW) != 0 && IsName(parts_.front()))
        return Fd(openat(Top(), parts_.front().c_str(), flags | O_CLOEXEC));
      if (!Step(!last)) return Fd();
    }
    // All parts are resolved. The top of the stack is the result, opened as a path only.
    return Reopen(flags);
  }

 private:
  static bool IsName(std::string_view part) { return part != "." && part != ".."; }

  int Top() const { return stack_.empty() ? root_ : stack_.back().get(); }

  void PushFront(std::string_view path) {
    const std::vector<std::string_view> parts = Split(path, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      if (!part->empty()) parts_.emplace_front(*part);
  }

  bool Step(bool must_be_directory) {
    const std::string part = std::move(parts_.front());
    parts_.pop_front();
    if (part == ".") return true;
    if (part == "..") {
      if (!stack_.empty()) stack_.pop_back();
      return true;
    }
    Fd next(openat(Top(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts {};
    if (!next.valid() || fstat(next.get(), &facts) != 0) return false;
    if (S_ISLNK(facts.st_mode)) return Follow(next);
    if (must_be_directory && !S_ISDIR(facts.st_mode)) return Fail(ENOTDIR);
    name_ = part;
    parent_depth_ = stack_.size();
    stack_.push_back(std::move(next));
    return true;
  }

  bool Follow(const Fd& link) {
    std::array<char, PATH_MAX> text{};
    const ssize_t bytes = readlinkat(link.get(), "", text.data(), text.size());
    if (bytes < 0) return false;
    const std::string_view target(text.data(), static_cast<std::size_t>(bytes));
    if (++links_ > kLinksMax || parts_.size() + target.size() > kPartsMax) return Fail(ELOOP);
    if (target.starts_with('/')) stack_.clear();
    PushFront(target);
    return true;
  }

  Fd Reopen(int flags) const {
    if (stack_.empty()) return Fd(openat(root_, ".", flags | O_CLOEXEC));
    struct stat facts {};
    if (fstat(Top(), &facts) != 0) return Fd();
    if (S_ISDIR(facts.st_mode)) return Fd(openat(Top(), ".", flags | O_CLOEXEC));
    // A file is always the last part of the walk, so its folder is below it on the stack.
    if (parent_depth_ + 1 != stack_.size()) return Failed(ENOTDIR);
    const int folder = parent_depth_ == 0 ? root_ : stack_[parent_depth_ - 1].get();
    return Fd(openat(folder, name_.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  }

  static bool Fail(int error) {
    errno = error;
    return false;
  }

  int root_;
  std::deque<std::string> parts_;
  std::vector<Fd> stack_;
  std::string name_;
  std::size_t parent_depth_ = 0;
  int links_ = 0;
};

}  // namespace

Fd OpenByWalk(int root, std::string_view path, int flags) {
  if (path.size() > kPartsMax || path.find('\0') != std::string_view::npos)
    return Failed(ENAMETOOLONG);
  return Walk(root, path).Open(flags);
}

}  // namespace ringlet::os
