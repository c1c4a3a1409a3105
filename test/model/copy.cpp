// Copies that the explorer sees. The library copies by vector code for five instruction sets.
#include "transport/link/copy.hpp"

#include <cstring>

namespace ringlet::transport {

void CopyByVectors(View from, std::byte* to) {
  std::memcpy(to, from.data(), from.size());
}

void StreamCopy(View from, std::byte* to) {
  std::memcpy(to, from.data(), from.size());
}

}  // namespace ringlet::transport
