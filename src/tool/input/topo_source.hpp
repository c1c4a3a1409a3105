// The source of a machine for `ringlet topo`: this machine, a file, a captured tree, a description.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.hpp"
#include "ringlet/status.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::cli {

struct TopoSource {
  std::string file;
  std::string root;
  std::string synthetic;
};

/// Adds FILE, --root and --synthetic, which exclude each other. Without any: this machine.
/// \param source  outlives the parsing
void AddTopoSource(CLI::App& command, TopoSource& source);

struct LoadedTopology {
  std::string title;  ///< for messages: "this machine", "FILE"
  topology::HostView view;
  std::vector<topology::Finding> findings;  ///< findings of the reader; empty without a file
  topology::Positions positions;
  std::vector<std::string> missing;  ///< facts that discovery did not find, and hints
  std::string merged = {};           ///< ports that LoadPlanned merged, for commands about ports
};

/// Errors  kInvalidArgument  the file or the description does not parse; the message has the
///                 position
///         kSystem           the file cannot be read
Result<LoadedTopology> LoadTopology(const TopoSource& source);

/// Changes a loaded machine before ports are merged. Empty: no change.
using ViewEdit = std::function<Result<topology::HostView>(topology::HostView)>;

/// Loads a machine as plans for GPUs use it, with ports after topology::PortRules. `missing` begins
/// with errors of the file, omitted GPUs and omitted ports. This machine is loaded as communicators
/// see it, with SOCKET_IFNAME and TOPO_FILE.
/// Errors  kInvalidArgument  as LoadTopology; a variable does not parse; errors of `edit`
Result<LoadedTopology> LoadPlanned(const TopoSource& source, const Settings& settings,
                                   const ViewEdit& edit = {});

/// Returns the remedy for a view with GPUs that are only PCI functions, as in files of cloud
/// vendors. Returns "" for other views.
std::string SkeletonHint(const topology::HostView& view);

/// Reads a whole file that the user named; "-" is standard input.
/// Errors  kInvalidArgument  the file is missing
///         kSystem           it cannot be read
///         kUnsupported      it has more than `bytes_max` bytes
Result<std::string> ReadUserFile(const std::string& path, std::size_t bytes_max);

}  // namespace ringlet::cli
