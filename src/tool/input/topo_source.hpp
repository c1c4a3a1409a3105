// The source of a machine for `ringlet topo`: this one, a file, a captured tree, or a description.
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

/// FILE, --root and --synthetic, of which at most one may be given; none: this machine.
/// \param source  outlives the parsing
void AddTopoSource(CLI::App& command, TopoSource& source);

struct LoadedTopology {
  std::string title;  ///< for people: "this machine", "FILE"
  topology::HostView view;
  std::vector<topology::Finding> findings;  ///< of the reader; empty where there was no file
  topology::Positions positions;
  std::vector<std::string> missing;  ///< facts that discovery did not find; hints
  std::string merged = {};           ///< ports that LoadPlanned merged; for who looks at ports
};

/// Errors  kInvalidArgument  the file or the description makes no sense; the sentence says where
///         kSystem           it cannot be read
Result<LoadedTopology> LoadTopology(const TopoSource& source);

/// A change of a machine that was loaded, before ports are merged; none: as it is.
using ViewEdit = std::function<Result<topology::HostView>(topology::HostView)>;

/// The same as plans for GPUs take it: ports by topology::PortRules, and in `missing`, first, that
/// a file has errors, GPUs that are left out, and ports that are. This machine is what
/// communicators see, with SOCKET_IFNAME and TOPO_FILE.
/// Errors  kInvalidArgument  as LoadTopology; a variable makes no sense; those of `edit`
Result<LoadedTopology> LoadPlanned(const TopoSource& source, const Settings& settings,
                                   const ViewEdit& edit = {});

/// For a view whose GPUs are but PCI functions, as in the files that cloud vendors ship: what to do
/// about it. "" for others.
std::string SkeletonHint(const topology::HostView& view);

/// A whole file that the user named; "-" is standard input.
/// Errors  kInvalidArgument  it is missing; kSystem  it cannot be read
///         kUnsupported      it has more than `bytes_max` bytes
Result<std::string> ReadUserFile(const std::string& path, std::size_t bytes_max);

}  // namespace ringlet::cli
