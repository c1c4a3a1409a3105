#include "transport/ofi/endpoint_address.hpp"

namespace ringlet::transport::ofi {
namespace {

constexpr std::uint8_t kAddressVersion = 1;

bool InBounds(const EndpointAddress& address) {
  return !address.provider.empty() && !address.name.empty() && (address.tag & 1) == 0 &&
         address.buffers >= 1 && address.buffers <= kBuffersMax &&
         address.buffer_bytes >= kBufferBytesMin && address.buffer_bytes <= kBufferBytesMax;
}

}  // namespace

Bytes Encode(const EndpointAddress& address) {
  Writer out;
  out.U8(kAddressVersion).Text(address.provider).Blob(address.name);
  out.U64(address.tag).U32(address.buffers).U32(address.buffer_bytes);
  return out.Take();
}

Result<EndpointAddress> DecodeEndpointAddress(View bytes) {
  Reader in(bytes);
  const std::uint8_t version = in.U8();
  EndpointAddress address;
  address.provider = in.Text(kProviderBytesMax);
  const View name = in.Blob(kNameBytesMax);
  address.name.assign(name.begin(), name.end());
  address.tag = in.U64();
  address.buffers = in.U32();
  address.buffer_bytes = in.U32();
  if (!in.AtEnd() || version != kAddressVersion || !InBounds(address))
    return Error{Code::kProtocol,
                 "an endpoint address of a libfabric endpoint that does not parse"};
  return address;
}

}  // namespace ringlet::transport::ofi
