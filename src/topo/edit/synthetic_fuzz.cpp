// Parses any words into a machine as a reader would, or an error that names a column.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "topo/edit/synthetic.hpp"
#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto view = ringlet::topology::ParseSynthetic(text);
  if (!view.ok()) {
    Require(!view.error().message.empty());
    return 0;
  }
  const std::string written = ToXml(*view);
  // The hundredth of thousands of equal parts reads like the first; the limit keeps runs short.
  constexpr std::size_t kReadBytesMax = std::size_t{256} << 10;
  if (written.size() > kReadBytesMax) return 0;
  const auto again = ringlet::topology::ReadXml(written, "");
  Require(!again.view || *again.view == *view);  // it may exceed the reader's limit of elements
  return 0;
}
