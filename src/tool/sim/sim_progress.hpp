// Reports the progress of a long simulation on standard error.
#pragma once
#include <functional>
#include <string>

#include "tool/sim/sim_world.hpp"

namespace ringlet::cli {

class SimProgress {
 public:
  /// \param now  wall time, like in OnTick
  explicit SimProgress(Instant now) : printed_(now) {}
  /// Prints a line if none was printed for a while.
  /// \param details  the end of the line; called only for a line
  void OnTick(SimWorld& world, Instant now, const std::function<std::string()>& details);

 private:
  Instant printed_;
};

/// Returns the memory of this process; 0 if the system does not report it.
std::uint64_t MemoryBytes();

}  // namespace ringlet::cli
