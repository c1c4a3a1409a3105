#include "tool/text/helper_program.hpp"

#include <poll.h>

#include <utility>

#include "os/process/env.hpp"
#include "programs/child.hpp"

namespace ringlet::cli {

bool RunHelper(std::vector<std::string> arguments) {
  Result<os::Child> child = os::Child::Start({std::move(arguments), os::ReadEnvironment()});
  if (!child.ok()) return false;
  // The picture of a rack takes a second.
  constexpr int kSliceMs = 50, kSlicesMax = 60'000 / kSliceMs;
  for (int slice = 0; slice < kSlicesMax; ++slice) {
    pollfd errors{child->errors().get(), POLLIN, 0};
    poll(&errors, 1, kSliceMs);
    const bool end = os::ReadAvailable(child->errors(), std::size_t{64} << 10).end;
    if (const auto ended = child->Poll()) return ended->ok();
    if (end) poll(nullptr, 0, kSliceMs);
  }
  return false;
}

}  // namespace ringlet::cli
