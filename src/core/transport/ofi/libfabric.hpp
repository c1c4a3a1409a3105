// Libfabric: a Fabric over libfabric (https://ofiwg.github.io/libfabric). It opens an endpoint of
// type FI_EP_RDM with tagged messages, with any provider of the host.
//
// The program loads the library (libfabric.so.1) at run time, and only if links over libfabric are
// wanted. The build needs the library's headers. Without them everything still builds, and
// OpenLibfabric returns an error that reports it.
#pragma once
#include <memory>
#include <string>

#include "base/value/address.hpp"
#include "transport/ofi/fabric.hpp"

namespace ringlet::transport::ofi {

struct LibfabricOptions {
  std::string provider = {};  ///< such as "tcp;ofi_rxm"; empty for the library's first choice
  /// The address of the interface to use. kNone: the library chooses. Providers that do not support
  /// internet addresses choose themselves.
  Address source = {};
};

/// Cost  the first call in a process takes about 0.1 s, because the library searches for hardware
/// Errors  kUnsupported  Ringlet was built without the headers, the library is missing, or it lacks
///                       such a provider on this host; the message states which
///         kSystem       the provider failed; with its message
Result<std::shared_ptr<Fabric>> OpenLibfabric(const LibfabricOptions& options);

}  // namespace ringlet::transport::ofi
