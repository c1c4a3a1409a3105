// Copies a terminal to the standard input of a program. Ranks have their own process groups, so the
// kernel would stop a rank that reads the terminal itself.
#pragma once
#include <string>
#include <vector>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

class InputPump {
 public:
  /// \param from  the caller keeps ownership
  /// Errors  kSystem  no descriptors are left
  static Result<InputPump> Open(int from);

  /// The standard input of the program. The caller closes it once the program runs.
  os::Fd& reader() { return reader_; }

  /// Appends the descriptor to wait for, if there is one.
  void AddDescriptor(std::vector<int>& descriptors) const;
  /// Copies arrived input without blocking. The end of the input closes the program's input.
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
