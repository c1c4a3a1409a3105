// The values of the setting LINKS for suites that run over each of them.
#pragma once
#include <initializer_list>
#include <vector>

#include "transport/wireup/transports.hpp"

namespace ringlet::transport {

enum class Libfabric : bool { kWithout, kWith };

/// "auto", which uses the memory of the host in place of links, and each transport.
inline std::vector<const char*> LinkNames(Libfabric libfabric,
                                          std::initializer_list<const char*> more = {}) {
  std::vector<const char*> names = {"auto"};
  for (const TransportRow& row : kTransportRows)
    if (libfabric == Libfabric::kWith || row.name != "ofi") names.push_back(row.name.data());
  names.insert(names.end(), more);
  return names;
}

}  // namespace ringlet::transport
