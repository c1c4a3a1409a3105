#include "topology/xml/xml_element.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"
#include "topology/xml/nccl_number.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kShownBytesMax = 60;

}  // namespace

XmlElement::XmlElement(XmlContext& context, pugi::xml_node node, std::string path, Part part)
    : context_(context), node_(node), path_(std::move(path)), part_(part) {
  context_.positions.Set(part_, "", context_.text.At(node_));
}

void XmlElement::AddFinding(Severity severity, std::string rule, const char* attribute,
                            std::string reason, std::string cure) {
  const pugi::xml_attribute found = node_.attribute(attribute);
  context_.findings.Add({.severity = severity,
                         .rule = std::move(rule),
                         .file = context_.file,
                         .at = found ? context_.text.At(found, node_) : context_.text.At(node_),
                         .path = path_,
                         .reason = std::move(reason),
                         .cure = std::move(cure)});
}

std::optional<std::string_view> XmlElement::Ask(const char* name) {
  asked_.insert(name);
  const pugi::xml_attribute found = node_.attribute(name);
  if (!found) return std::nullopt;
  context_.positions.Set(part_, name, context_.text.At(found, node_));
  return found.value();
}

void XmlElement::AddUnreadable(const char* name, std::string_view text, std::string_view wanted) {
  AddFinding(Severity::kError, "bad-value", name,
             fmt::format("{}=\"{}\" is not {}", name, Printable(text, kShownBytesMax), wanted),
             "the attribute is left out");
}

std::optional<std::string_view> XmlElement::LongText(const char* name) {
  return Ask(name);
}

std::optional<std::string_view> XmlElement::Text(const char* name) {
  const std::optional<std::string_view> text = Ask(name);
  if (!text || text->size() <= HostView::kNameBytesMax) return text;
  AddUnreadable(name, *text, fmt::format("a text of at most {} bytes", HostView::kNameBytesMax));
  return std::nullopt;
}

std::optional<std::uint32_t> XmlElement::Number(const char* name, std::uint32_t max) {
  const std::optional<std::string_view> text = Ask(name);
  if (!text || text->empty()) return std::nullopt;
  const NcclNumber number = ParseNcclNumber(*text);
  if (number.whole && number.value == -1) return std::nullopt;
  if (number.value < 0 || number.value > max || (!number.whole && number.value == 0)) {
    AddUnreadable(name, *text, fmt::format("a number from 0 to {}", max));
    return std::nullopt;
  }
  if (!number.whole)
    AddFinding(Severity::kWarning, "bad-value", name,
               fmt::format("{}=\"{}\" has text after the number; NCCL reads {}", name,
                           Printable(*text, kShownBytesMax), number.value),
               "write the number alone");
  if (number.octal)
    AddFinding(Severity::kWarning, "octal-number", name,
               fmt::format("{}=\"{}\" begins with 0, so NCCL reads it as octal: {}", name,
                           Printable(*text, kShownBytesMax), number.value),
               "write it without the leading 0");
  return static_cast<std::uint32_t>(number.value);
}

std::optional<bool> XmlElement::Flag(const char* name) {
  const std::optional<std::uint32_t> number = Number(name);
  if (!number) return std::nullopt;
  if (*number > 1)
    AddFinding(Severity::kWarning, "bad-value", name,
               fmt::format("{}=\"{}\" should be 0 or 1", name, *number), "it counts as 1");
  return *number != 0;
}

std::optional<std::uint64_t> XmlElement::Hex(const char* name) {
  const std::optional<std::string_view> text = Ask(name);
  if (!text || text->empty()) return std::nullopt;
  const std::optional<std::uint64_t> value = ParseHex64(*text);
  if (!value) AddUnreadable(name, *text, "a hexadecimal number of at most 64 bits");
  return value;
}

std::optional<std::uint16_t> XmlElement::Hex16(const char* name) {
  const std::optional<std::string_view> text = Ask(name);
  if (!text || text->empty()) return std::nullopt;
  const std::optional<std::uint64_t> value = ParseHex64(*text);
  if (value && *value <= 0xffff) return static_cast<std::uint16_t>(*value);
  AddUnreadable(name, *text, "a hexadecimal number of at most 16 bits");
  return std::nullopt;
}

std::optional<PciClass> XmlElement::Class(const char* name) {
  const std::optional<std::string_view> text = Ask(name);
  if (!text || text->empty()) return std::nullopt;
  const Result<PciClass> value = PciClass::Parse(*text);
  if (value.ok()) return *value;
  AddUnreadable(name, *text, "a PCI class such as 0x060400");
  return std::nullopt;
}

std::optional<BusId> XmlElement::Bus(const char* name) {
  const std::optional<std::string_view> text = Ask(name);
  if (!text) return std::nullopt;
  const Result<BusId> value = BusId::Parse(*text);
  if (!value.ok()) {
    AddUnreadable(name, *text, "the address of a PCI function such as 0000:3b:00.0");
    return std::nullopt;
  }
  if (ToString(*value) != *text)
    AddFinding(Severity::kWarning, "bus-id-spelling", name,
               fmt::format("{}=\"{}\": NCCL compares bus ids letter by letter", name,
                           Printable(*text, kShownBytesMax)),
               fmt::format("write it as the kernel does: {}", ToString(*value)));
  return *value;
}

void XmlElement::StoreUnread() {
  std::set<std::string_view> seen;
  for (const pugi::xml_attribute attribute : node_.attributes()) {
    const std::string_view name = attribute.name();
    if (!seen.insert(name).second) {
      AddFinding(Severity::kWarning, "attribute-twice", attribute.name(),
                 fmt::format("attribute {} occurs twice", Printable(name, kShownBytesMax)),
                 "the first one counts");
      continue;
    }
    if (name.empty() || asked_.contains(name)) continue;
    const std::string_view value = attribute.value();
    if (name.size() > HostView::kNameBytesMax || value.size() > HostView::kUnknownBytesMax) {
      AddFinding(Severity::kError, "too-large", "", "an unknown attribute is too long to be kept",
                 "");
      continue;
    }
    AddFinding(
        Severity::kNote, "unknown-attribute", attribute.name(),
        fmt::format("attribute {} means nothing to Ringlet", Printable(name, kShownBytesMax)),
        "it is kept");
    context_.view.unknown_attributes.push_back({part_, std::string(name), std::string(value)});
  }
}

}  // namespace ringlet::topology
