// An element of a topology file during reading. Returns its attributes as values, records their
// places, and reports invalid and unknown attributes.
#pragma once
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <string_view>

#include "topology/finding/finding.hpp"
#include "topology/view/host_view.hpp"
#include "topology/xml/xml_text.hpp"

namespace ringlet::topology {

/// The state that all elements of a file share during reading.
struct XmlContext {
  const XmlText& text;
  std::string file;
  HostView view = {};
  Findings findings = {};
  Positions positions = {};
};

class XmlElement {
 public:
  /// \param context  must outlive the element
  /// \param path     path of the element, for findings
  /// \param part     the part of the view for this element
  XmlElement(XmlContext& context, pugi::xml_node node, std::string path, Part part);

  /// Returns the element with another part for its children.
  XmlElement As(Part part) const {
    XmlElement other = *this;
    other.part_ = part;
    return other;
  }

  pugi::xml_node node() const { return node_; }
  const std::string& path() const { return path_; }
  Part part() const { return part_; }

  /// The text of an attribute. Null if it is missing. Null with a finding if it is longer than a
  /// name.
  std::optional<std::string_view> Text(const char* name);
  /// The text of an attribute, of any length.
  std::optional<std::string_view> LongText(const char* name);
  /// Reads a number as NCCL does. Null if it is missing, empty or -1. If it is not a number,
  /// negative or above `max`, adds a finding and returns null.
  std::optional<std::uint32_t> Number(const char* name, std::uint32_t max = kNumberMax);
  std::optional<bool> Flag(const char* name);
  std::optional<std::uint64_t> Hex(const char* name);
  std::optional<std::uint16_t> Hex16(const char* name);
  std::optional<PciClass> Class(const char* name);
  std::optional<BusId> Bus(const char* name);
  /// Skips an attribute that has a meaning inside NCCL only, and none in a file.
  void Ignore(const char* name) { asked_.insert(name); }

  /// Stores all attributes that were not read, with a note for each.
  void StoreUnread();

  /// Adds a finding.
  /// \param attribute  its place; empty: the element's place
  void AddFinding(Severity severity, std::string rule, const char* attribute, std::string reason,
                  std::string cure);

 private:
  static constexpr std::uint32_t kNumberMax = 0x7fff'ffff;

  std::optional<std::string_view> Ask(const char* name);
  void AddUnreadable(const char* name, std::string_view text, std::string_view wanted);

  XmlContext& context_;
  pugi::xml_node node_;
  std::string path_;
  Part part_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace ringlet::topology
