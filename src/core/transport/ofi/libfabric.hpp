// The Fabric of libfabric (https://ofiwg.github.io/libfabric): an endpoint of type FI_EP_RDM with
// tagged messages, of whatever provider the host has.
//
// The library is looked for while the program runs (libfabric.so.1), and used only when links over
// it are wanted. Its headers are needed to build: without them everything builds, and OpenLibfabric
// says so.
#pragma once
#include <memory>
#include <string>

#include "base/value/address.hpp"
#include "transport/ofi/fabric.hpp"

namespace ringlet::transport::ofi {

struct LibfabricOptions {
  std::string provider = {};  ///< such as "tcp;ofi_rxm"; empty: the library's first choice
  /// The address of the interface to use; kNone: the library chooses. Providers that do not know
  /// internet addresses choose by themselves.
  Address source = {};
};

/// The first call in a process takes some 0.1 s, in which the library looks for hardware.
/// Errors  kUnsupported  Ringlet was built without the headers, the library is not there, or it has
///                       no such provider on this host; the sentence says which
///         kSystem       the provider failed; with its words
Result<std::shared_ptr<Fabric>> OpenLibfabric(const LibfabricOptions& options);

}  // namespace ringlet::transport::ofi
