// The state behind a ringlet::Communicator. Its source and that of Group use it.
#pragma once
#include <memory>

#include "comm/process/process.hpp"
#include "comm/run/communicator.hpp"
#include "ringlet/communicator.hpp"

namespace ringlet {

namespace cxx {

inline Error IsEmpty() {
  return {Code::kInvalidArgument,
          "the communicator is empty: never formed, moved from, destroyed, or of a rank without a "
          "color"};
}

}  // namespace cxx

struct Communicator::Impl {
  explicit Impl(std::shared_ptr<comm::Communicator> formed) : communicator(std::move(formed)) {}
  /// The child of a fork lacks the threads that serve the communicator, so it leaks the object.
  ~Impl() {
    if (!fork_guard.IsHere()) new std::shared_ptr<comm::Communicator>(std::move(communicator));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Errors  kInvalidArgument  the communicator is empty, or was made before a fork
  static Status Check(const Impl* impl) {
    return impl ? impl->fork_guard.Check() : Status(cxx::IsEmpty());
  }

  std::shared_ptr<comm::Communicator> communicator;
  const comm::ForkGuard fork_guard = {};
};

}  // namespace ringlet
