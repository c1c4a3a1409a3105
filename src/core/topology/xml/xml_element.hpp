// One element of a topology file while it is read: gives its attributes as values, remembers where
// they stand, and reports those that make no sense or that were not asked for.
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

/// The state that all elements of a file share while it is read.
struct XmlContext {
  const XmlText& text;
  std::string file;
  HostView view = {};
  Findings findings = {};
  Positions positions = {};
};

class XmlElement {
 public:
  /// \param context  outlives the element
  /// \param path     of the element, for findings
  /// \param part the part of the view that the element becomes
  XmlElement(XmlContext& context, pugi::xml_node node, std::string path, Part part);

  /// The same element, where what is below it belongs to another part.
  XmlElement As(Part part) const {
    XmlElement other = *this;
    other.part_ = part;
    return other;
  }

  pugi::xml_node node() const { return node_; }
  const std::string& path() const { return path_; }
  Part part() const { return part_; }

  /// The text of an attribute; nothing where it is missing. Longer than a name may be: nothing, and
  /// a finding.
  std::optional<std::string_view> Text(const char* name);
  /// The same, of any length.
  std::optional<std::string_view> LongText(const char* name);
  /// As NCCL reads a number. Nothing for a missing or empty one and for -1; nothing, and a finding,
  /// for what is no number, is negative or more than `max`.
  std::optional<std::uint32_t> Number(const char* name, std::uint32_t max = kNumberMax);
  std::optional<bool> Flag(const char* name);
  std::optional<std::uint64_t> Hex(const char* name);
  std::optional<std::uint16_t> Hex16(const char* name);
  std::optional<PciClass> Class(const char* name);
  std::optional<BusId> Bus(const char* name);
  /// Attributes that mean something to NCCL while it runs, and nothing in a file.
  void Ignore(const char* name) { asked_.insert(name); }

  /// Keeps what was not asked for, and says so.
  void KeepTheRest();

  /// \param attribute the place to point at; empty: the element
  void Say(Severity severity, std::string rule, const char* attribute, std::string reason,
           std::string cure);

 private:
  static constexpr std::uint32_t kNumberMax = 0x7fff'ffff;

  std::optional<std::string_view> Ask(const char* name);
  void SayUnreadable(const char* name, std::string_view text, std::string_view wanted);

  XmlContext& context_;
  pugi::xml_node node_;
  std::string path_;
  Part part_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace ringlet::topology
