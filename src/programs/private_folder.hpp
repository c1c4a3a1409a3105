// A folder for temporary files, accessible to this user only.
#pragma once
#include <memory>
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::os {

/// The destructor removes the folder with its contents.
class PrivateFolder {
 public:
  /// \param parent  TMPDIR; empty: /tmp
  /// \param name    prefix of its name
  /// Errors  kSystem  it cannot be created; the message names the parent
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
