#include "topology/xml/xml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/value/text.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

constexpr std::string_view kBom = "\xef\xbb\xbf";

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

class StringSink : public pugi::xml_writer {
 public:
  void write(const void* data, std::size_t size) override {
    text.append(static_cast<const char*>(data), size);
  }
  std::string text;
};

}  // namespace

LineIndex::LineIndex(std::string_view text) {
  starts_.push_back(0);
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts_.push_back(static_cast<std::uint32_t>(at + 1));
}

TextPosition LineIndex::At(std::size_t offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const auto line = static_cast<std::uint32_t>(after - starts_.begin());
  return {line, static_cast<std::uint32_t>(offset - *std::prev(after)) + 1};
}

XmlText::XmlText(std::string_view text)
    : buffer_(text.substr(0, kXmlBytesMax + 1)), lines_(buffer_) {
  CheckBytes(text);
  if (!refusal_) Parse();
  if (!refusal_) CheckTree();
}

void XmlText::Refuse(std::string rule, std::string reason, std::string cure, std::size_t offset) {
  refusal_ = {std::move(rule), std::move(reason), std::move(cure), lines_.At(offset)};
}

void XmlText::CheckBytes(std::string_view text) {
  if (text.size() > kXmlBytesMax)
    return Refuse(
        "too-large",
        fmt::format("the file has {} bytes; a topology has at most {}", text.size(), kXmlBytesMax),
        "", 0);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return Refuse("not-utf8", "the text is UTF-16", "save it as UTF-8", 0);
  const auto control = std::find_if(text.begin(), text.end(), IsControl);
  if (control != text.end())
    return Refuse("not-text",
                  fmt::format("byte 0x{:02x} does not occur in text; this is no XML file",
                              static_cast<unsigned char>(*control)),
                  "", static_cast<std::size_t>(control - text.begin()));
  if (Trim(text).empty()) return Refuse("no-element", "the file is empty", "", 0);
  // Each element and each attribute has one of these, so memory is bounded before it is taken.
  const auto count = [&](char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
  };
  if (count('<') > 2 * kXmlElementsMax || count('=') > kXmlAttributesMax)
    Refuse("too-large",
           fmt::format("the file has more than {} tags or {} attributes; no topology has",
                       2 * kXmlElementsMax, kXmlAttributesMax),
           "", 0);
}

void XmlText::Parse() {
  const std::size_t skip = buffer_.starts_with(kBom) ? kBom.size() : 0;
  const pugi::xml_parse_result result = document_.load_buffer_inplace(
      buffer_.data() + skip, buffer_.size() - skip, pugi::parse_default, pugi::encoding_utf8);
  if (result.status == pugi::status_no_document_element)
    return Refuse("no-element", "the file holds no element", "a topology begins with <system", 0);
  const auto offset = skip + static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  if (!result)
    Refuse("not-xml", fmt::format("this is no XML: {}", result.description()), "",
           std::min(offset, buffer_.size() - 1));
}

void XmlText::CheckTree() {
  std::size_t depth = 1;
  std::size_t nodes = 0;
  for (pugi::xml_node node = document_.first_child(); node;) {
    if (++nodes > kXmlElementsMax)
      return Refuse("too-large", fmt::format("there are more than {} elements", kXmlElementsMax),
                    "", 0);
    if (depth > kXmlDepthMax) {
      refusal_ = {"too-deep", fmt::format("elements are nested more than {} deep", kXmlDepthMax),
                  "", At(node)};
      return;
    }
    const auto attributes = node.attributes();
    if (static_cast<std::size_t>(std::distance(attributes.begin(), attributes.end())) >
        kXmlAttributesOfOneMax) {
      refusal_ = {"too-large",
                  fmt::format("an element has more than {} attributes", kXmlAttributesOfOneMax), "",
                  At(node)};
      return;
    }
    if (node.first_child()) {
      node = node.first_child();
      ++depth;
      continue;
    }
    for (; !node.next_sibling(); --depth) {
      node = node.parent();
      if (!node || node == document_) return;
    }
    node = node.next_sibling();
  }
}

TextPosition XmlText::AtPointer(const char* place) const {
  const bool inside = std::less_equal<>()(buffer_.data(), place) &&
                      std::less<>()(place, buffer_.data() + buffer_.size());
  return inside ? lines_.At(static_cast<std::size_t>(place - buffer_.data())) : TextPosition{};
}

TextPosition XmlText::At(pugi::xml_node node) const {
  const bool named = node.type() == pugi::node_element;
  return AtPointer(named ? node.name() : node.value());
}

TextPosition XmlText::At(pugi::xml_attribute attribute, pugi::xml_node owner) const {
  const TextPosition at = AtPointer(attribute.name());
  return at.line == 0 ? At(owner) : at;
}

std::string RawXml(pugi::xml_node node) {
  StringSink sink;
  node.print(sink, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
  return std::move(sink.text);
}

}  // namespace ringlet::topology
