// Parses the text of an XML file into a tree. Checks limits first, and finds places afterwards.
#pragma once
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "topology/finding/finding.hpp"

namespace ringlet::topology {

/// The reason why a text does not parse, and the place.
struct XmlRefusal {
  std::string rule;
  std::string reason;
  std::string cure;
  TextPosition at;
};

/// Finds the line and column of an offset.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  TextPosition At(std::size_t offset) const;

 private:
  std::vector<std::uint32_t> starts_;  // offsets of line starts
};

/// A parsed text. Names and values point into it.
class XmlText {
 public:
  /// Checks the limits of xml_reader.hpp, then parses. refusal() returns the result.
  explicit XmlText(std::string_view text);

  const std::optional<XmlRefusal>& refusal() const { return refusal_; }
  pugi::xml_node root() const { return document_.document_element(); }

  /// The start of the name of an element or attribute.
  TextPosition At(pugi::xml_node node) const;
  TextPosition At(pugi::xml_attribute attribute, pugi::xml_node owner) const;

 private:
  void CheckBytes(std::string_view text);
  void RefuseUnclosed(const pugi::xml_parse_result& result, std::string_view text);
  void Parse(std::string_view text);
  void CheckTree();
  void Refuse(std::string rule, std::string reason, std::string cure, std::size_t offset);
  TextPosition AtPointer(const char* place) const;

  std::string buffer_;  // pugixml parses in place; nodes point into it
  LineIndex lines_;
  pugi::xml_document document_;
  std::optional<XmlRefusal> refusal_;
};

/// The element with its contents on one line, for UnknownElement::xml.
std::string RawXml(pugi::xml_node node);

}  // namespace ringlet::topology
