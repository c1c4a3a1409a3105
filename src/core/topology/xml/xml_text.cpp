#include "topology/xml/xml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/value/text.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kTagBytesShown = 60;
constexpr std::string_view kBom = "\xef\xbb\xbf";

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

/// A tag that opens an element.
struct OpenTag {
  std::string_view name;
  std::size_t at = 0;
};

struct Mismatch {
  OpenTag open, closing;
  bool is_stray = false;  ///< true if no element of that name is open
};

/// The end of a comment, declaration or similar at `at`. Null if `at` is the tag of an element.
std::optional<std::size_t> EndOfOther(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end) {
    const std::size_t found = text.find(end, at);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at).starts_with("<!--")) return behind("-->");
  if (text.substr(at).starts_with("<![CDATA[")) return behind("]]>");
  if (text.substr(at).starts_with("<?")) return behind("?>");
  if (text.substr(at).starts_with("<!")) return behind(">");
  return std::nullopt;
}

/// The position of a tag's > outside quotes.
std::size_t EndOfTag(std::string_view text, std::size_t at) {
  char quote = 0;
  for (; at < text.size(); ++at) {
    if (quote != 0) {
      if (text[at] == quote) quote = 0;
    } else if (text[at] == '"' || text[at] == '\'') {
      quote = text[at];
    } else if (text[at] == '>') {
      return at;
    }
  }
  return text.size();
}

/// For a text with mismatched tags: the last open element, and the closing tag that does not match
/// it. The closing tag is empty at the end of the text.
std::optional<Mismatch> FindUnclosed(std::string_view text) {
  std::vector<OpenTag> open;
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    if (const auto behind = EndOfOther(text, at)) {
      at = *behind;
      continue;
    }
    const bool closes = text.substr(at).starts_with("</");
    const std::size_t name = at + (closes ? 2 : 1), end = EndOfTag(text, name);
    const OpenTag tag{text.substr(name, text.find_first_of(" \t\r\n/>", name) - name), at};
    if (!closes && text[end - 1] != '/') open.push_back(tag);
    if (closes && (open.empty() || open.back().name != tag.name)) {
      if (open.empty()) return std::nullopt;
      const bool is_stray = std::ranges::find(open, tag.name, &OpenTag::name) == open.end();
      return Mismatch{open.back(), tag, is_stray};
    }
    if (closes) open.pop_back();
    at = end;
  }
  if (open.empty()) return std::nullopt;
  return Mismatch{open.back(), {"", text.size()}, false};
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
  if (!refusal_) Parse(text);
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
                  fmt::format("byte 0x{:02x} does not occur in text; this is not an XML file",
                              static_cast<unsigned char>(*control)),
                  "", static_cast<std::size_t>(control - text.begin()));
  if (Trim(text).empty()) return Refuse("no-element", "the file is empty", "", 0);
  // Each element contains a '<', each attribute a '='. The counts limit memory in advance.
  const auto count = [&](char c) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
  };
  if (count('<') > 2 * kXmlElementsMax || count('=') > kXmlAttributesMax)
    Refuse("too-large",
           fmt::format(
               "the file has more than {} tags or {} attributes, which is too many for a topology",
               2 * kXmlElementsMax, kXmlAttributesMax),
           "", 0);
}

void XmlText::RefuseUnclosed(const pugi::xml_parse_result& result, std::string_view text) {
  if (result.status != pugi::status_end_element_mismatch) return;
  const auto unclosed = FindUnclosed(text);
  if (!unclosed) return;
  const auto& [open, other, is_stray] = *unclosed;
  const auto line = [&](std::size_t at) { return lines_.At(at).line; };
  const std::string name = Printable(open.name, kTagBytesShown);
  if (is_stray)
    return Refuse("not-xml",
                  fmt::format("this is not XML: </{}> does not close an element; the element that "
                              "is open is <{}> of line {}",
                              Printable(other.name, kTagBytesShown), name, line(open.at)),
                  "take it out, or write the tag that it should close", other.at + 2);
  Refuse("not-xml",
         fmt::format("this is not XML: <{}> of line {} is never closed; {}", name, line(open.at),
                     other.name.empty()
                         ? "the file ends before its end tag"
                         : fmt::format("</{}> of line {} is before its end tag",
                                       Printable(other.name, kTagBytesShown), line(other.at))),
         fmt::format("write </{}>, or end its tag with /> if nothing is inside", name),
         open.at + 1);
}

void XmlText::Parse(std::string_view text) {
  const std::size_t skip = buffer_.starts_with(kBom) ? kBom.size() : 0;
  const pugi::xml_parse_result result = document_.load_buffer_inplace(
      buffer_.data() + skip, buffer_.size() - skip, pugi::parse_default, pugi::encoding_utf8);
  if (result.status == pugi::status_no_document_element)
    return Refuse("no-element", "the file holds no element", "a topology begins with <system", 0);
  const auto offset = skip + static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  if (!result) RefuseUnclosed(result, text);
  if (!result && !refusal_)
    Refuse("not-xml", fmt::format("this is not XML: {}", result.description()), "",
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
