// Reads any text. The reader ends and gives a reason if it returns no view. A view survives writing
// and reading, sending and receiving, a linter, a comparison with itself, and completion.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "topo/edit/compare.hpp"
#include "topo/edit/complete.hpp"
#include "topo/lint/lint.hpp"
#include "topo/lint/nccl_dialect.hpp"
#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"

namespace {

using ringlet::topology::HostView;

void Require(bool condition) {
  if (!condition) std::abort();
}

void TryView(const HostView& view) {
  Require(view.Check().ok());
  const std::string written = ToXml(view);
  const auto again = ringlet::topology::ReadXml(written, "");
  if (written.size() > ringlet::topology::kXmlBytesMax) return;  // blanks may lengthen it
  Require(again.view && *again.view == view);
  ringlet::Writer out;
  Encode(out, view);
  ringlet::Reader in(out.view());
  Require(ringlet::topology::DecodeHostView(in) == view && in.AtEnd());
  Require(ringlet::topology::Compare(view, view).empty());
  for (const auto& machine : ringlet::topology::KnownMachines()) {
    const auto completed = Complete(view, CompletionOf(machine));
    if (completed.ok()) Require(completed->view.Check().ok());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // An exact copy, so that ASan detects reads beyond its end.
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto report = ringlet::topology::LintXml(text, "f");
  Require(report.view || HasError(report.findings));
  for (const auto& finding : report.findings) Require(!ToText(finding).empty());
  ringlet::topology::LintDialect(text, "f");
  if (report.view) TryView(*report.view);
  return 0;
}
