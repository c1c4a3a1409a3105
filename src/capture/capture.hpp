// Captures exactly the files of a machine that discovery reads, for use on another machine.
#pragma once
#include <vector>

#include "capture/tar.hpp"
#include "discovery/scan.hpp"

namespace ringlet::discovery {

struct Capture {
  HostScan scan;                  ///< of the machine itself
  std::vector<TarEntry> entries;  ///< sorted by path, folders before their contents
};

/// Scans `files` and keeps every file, link and folder read on the way, and the driver's report on
/// GPUs (kGpuTextPath). Listed names without a read become empty files. Scrub has removed
/// identifying data. A scan of the result gives the same view, except for such names and numbers.
/// Errors  those of Scan
Result<Capture> CaptureHost(os::FileTree& files, const ScanOptions& options);

}  // namespace ringlet::discovery
