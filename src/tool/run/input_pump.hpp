// Copies a terminal to the standard input of a program. A program of a process group of its own, as
// ranks are, may not read the terminal itself: the kernel would stop it.
#pragma once
#include <string>
#include <vector>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

class InputPump {
 public:
  /// \param from  stays the caller's
  /// Errors  kSystem  there are no descriptors left
  static Result<InputPump> Open(int from);

  /// The standard input of the program. To be closed once it runs.
  os::Fd& reader() { return reader_; }

  /// The descriptor to wait for, if there is one.
  void AddDescriptor(std::vector<int>& descriptors) const;
  /// Copies what has come; does not block. The end of the input closes the program's.
  void Pump();

 private:
  InputPump(int from, os::Fd writer, os::Fd reader)
      : from_(from), writer_(std::move(writer)), reader_(std::move(reader)) {}
  void Write();

  int from_;
  os::Fd writer_, reader_;
  std::string pending_;
  bool end_ = false;
};

}  // namespace ringlet::cli
