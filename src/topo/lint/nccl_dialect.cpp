#include "topo/lint/nccl_dialect.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/xml/xml_text.hpp"

namespace ringlet::topology {
namespace {

/// Walks over the text of a well-formed file, and skips unknown, already parsed parts.
class DialectReader {
 public:
  DialectReader(std::string_view text, std::string_view file)
      : text_(text), file_(file), lines_(text) {}

  std::vector<Finding> Run() {
    if (text_.starts_with("\xef\xbb\xbf")) {
      AddFinding(0, "byte-order-mark", "the file begins with a byte order mark",
                 "save the file without it");
      at_ = 3;
    }
    while (at_ < text_.size()) {
      if (text_[at_] != '<') {
        Between();
      } else if (Starts("<!--")) {
        SkipPast("-->");
      } else if (Starts("<?")) {
        AddFinding(at_, "declaration", "NCCL does not support <?...?>", "remove it");
        SkipPast("?>");
      } else if (Starts("<!")) {
        AddFinding(at_, "declaration", "NCCL does not support <!...>", "remove it");
        SkipPast(Starts("<![CDATA[") ? "]]>" : ">");
      } else {
        Tag();
      }
    }
    return findings_.Take();
  }

 private:
  bool Starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  void SkipPast(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }
  void AddFinding(std::size_t offset, std::string_view rule, std::string reason, std::string cure) {
    findings_.Add({.severity = Severity::kError,
                   .rule = std::string(rule),
                   .file = std::string(file_),
                   .at = lines_.At(offset),
                   .path = "",
                   .reason = std::move(reason),
                   .cure = std::move(cure)});
  }

  /// Skips blanks between elements. The reader reports other text.
  void Between() {
    const std::size_t end = std::min(text_.find('<', at_), text_.size());
    const std::size_t tab = text_.substr(at_, end - at_).find('\t');
    if (tab != std::string_view::npos && !said_tab_) {
      AddFinding(at_ + tab, "tab",
                 "a tab between elements; NCCL stops at it with \"expecting '<'\"",
                 "indent with spaces");
      said_tab_ = true;  // once, because every line may have one
    }
    at_ = end;
  }

  static bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  void Tag() {
    const std::size_t start = at_;
    while (at_ < text_.size() && !IsSpace(text_[at_]) && text_[at_] != '>') ++at_;
    std::size_t attributes = 0;
    while (at_ < text_.size() && text_[at_] != '>') {
      if (!IsSpace(text_[at_])) {
        Attribute();
        ++attributes;
        continue;
      }
      if (text_[at_] != ' ' && !said_space_) {
        AddFinding(at_, "newline-in-tag", "a newline or tab within a tag; NCCL stops at it",
                   "separate attributes by single spaces");
        said_space_ = true;
      }
      ++at_;
    }
    if (attributes > kNcclAttributesMax + 1)  // the slash of an empty element may count as one
      AddFinding(start, "too-many-attributes",
                 fmt::format("{} attributes; NCCL drops all but the first {}", attributes,
                             kNcclAttributesMax),
                 "");
    if (at_ < text_.size()) ++at_;
  }

  void Attribute() {
    const std::size_t start = at_;
    while (at_ < text_.size() && text_[at_] != '=' && text_[at_] != '>' && !IsSpace(text_[at_]))
      ++at_;
    std::size_t equals = at_;
    while (equals < text_.size() && IsSpace(text_[equals])) ++equals;
    if (equals == text_.size() || text_[equals] != '=') {
      at_ = std::max(at_, start + 1);  // a slash, or a character that XML readers reject
      return;
    }
    std::size_t quote = equals + 1;
    while (quote < text_.size() && IsSpace(text_[quote])) ++quote;
    if (quote - at_ > 1)
      AddFinding(start, "blank-at-equals", "spaces around =; NCCL stops at them", "remove them");
    if (quote == text_.size()) {
      at_ = quote;
      return;
    }
    const std::size_t end = std::min(text_.find(text_[quote], quote + 1), text_.size());
    Value(start, text_.substr(quote + 1, end - quote - 1));
    at_ = std::min(end + 1, text_.size());
  }

  void Value(std::size_t start, std::string_view value) {
    if (value.size() > kNcclValueBytesMax)
      AddFinding(start, "long-value",
                 fmt::format("a value of {} characters; NCCL stops at more than {}", value.size(),
                             kNcclValueBytesMax),
                 "");
    if (value.find('&') != std::string_view::npos)
      AddFinding(start, "entity", "NCCL does not know &...; and reads it literally", "");
  }

  std::string_view text_;
  std::string_view file_;
  LineIndex lines_;
  std::size_t at_ = 0;
  bool said_tab_ = false;
  bool said_space_ = false;
  Findings findings_;
};

}  // namespace

std::vector<Finding> LintDialect(std::string_view text, std::string_view file) {
  return DialectReader(text, file).Run();
}

}  // namespace ringlet::topology
