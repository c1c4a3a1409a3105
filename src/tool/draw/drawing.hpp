// A picture as a value: boxes, lines and words; and the same as SVG. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringlet::cli {

/// The kind of a shape; the theme gives it colors.
enum class Paint {
  kHost,
  kNuma,
  kSwitch,
  kGpu,
  kNic,
  kNvSwitch,
  kSocketBus,
  kPciLine,
  kNvLine,
  kC2cLine,
  kSocketLine,
};

/// All measures are pixels; y grows downwards.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  Paint paint = Paint::kHost;
  std::string title = {};                  ///< shown when the pointer rests on it
  std::optional<std::uint32_t> node = {};  ///< of a graph: what it stands for
  std::string outline = {};                ///< "#d62828", in place of the theme's, and thick
  bool dashed = false;                     ///< the outline
};

/// Through all points, with round corners.
struct Polyline {
  std::vector<std::pair<double, double>> points;
  double width = 1;
  Paint paint = Paint::kPciLine;
  std::string title = {};
  std::string color = {};  ///< "#0072B2", in place of the theme's
  bool dashed = false;
  /// Of a graph: the nodes that it joins, the lower one first.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> ends = {};
  std::string group = {};  ///< what can be switched off together: "ring 0"
};

enum class Anchor { kStart, kMiddle, kEnd };

struct Words {
  double x = 0, y = 0;  ///< of the anchor, on the base line
  std::string text;
  double size = 11;
  Anchor anchor = Anchor::kStart;
  bool strong = false;
  bool on_line = false;  ///< lies on a line and needs ground of its own
};

struct Drawing {
  double width = 0, height = 0;
  std::vector<Box> boxes;  ///< below lines, which are below words
  std::vector<Polyline> lines;
  std::vector<Words> words;
};

struct Extent {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool Overlaps(const Extent& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// The extent of words, by the widths of a monospaced font.
Extent ExtentOf(const Words& words);
/// How wide a text of that size is.
double TextWidth(std::string_view text, double size);
/// `text`, or as much of its beginning as fits into `width`, with ".." at the end.
std::string Fitted(std::string_view text, double size, double width);

/// Self-contained; `dark` for dark pages. Texts from outside are escaped.
std::string ToSvg(const Drawing& drawing, bool dark);

/// For a page of HTML: colors are variables of its style sheet, "--gpu" and "--gpu-line"; boxes of
/// nodes have data-node, GPUs and NICs can be focused; lines have data-ends, "3 7", and data-group.
std::string ToPageSvg(const Drawing& drawing);

}  // namespace ringlet::cli
