// Keeps of a machine exactly what discovery reads of it, so that it can be looked at elsewhere.
#pragma once
#include <vector>

#include "capture/tar.hpp"
#include "discovery/scan.hpp"

namespace ringlet::discovery {

struct Capture {
  HostScan scan;                  ///< of the machine itself
  std::vector<TarEntry> entries;  ///< in the order of their paths, folders before what is in them
};

/// Scans `files` and keeps every file, link and folder that was asked for, and what the driver told
/// of GPUs (kGpuTextPath). Names that were listed but not looked at become empty files. Scrub has
/// taken out what identifies the machine: a scan of the result gives the same view but for such
/// names and numbers.
/// Errors  those of Scan
Result<Capture> CaptureHost(os::FileTree& files, const ScanOptions& options);

}  // namespace ringlet::discovery
