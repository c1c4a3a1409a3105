// A folder of temporary files that only this user can enter.
#pragma once
#include <memory>
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// Removed, with all in it, when it goes out of scope.
class PrivateFolder {
 public:
  /// \param parent  TMPDIR; empty: /tmp
  /// \param name    the begin of its name
  /// Errors  kSystem  it cannot be made; the sentence names the parent
  static Result<std::unique_ptr<PrivateFolder>> Make(std::string parent, const std::string& name);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace ringlet::os
