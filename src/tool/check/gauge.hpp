// A metric in the text format of Prometheus.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringlet::cli {

/// All samples of one gauge, with its help text.
class Gauge {
 public:
  Gauge(std::string_view name, std::string_view help);

  /// Adds a sample. Label values may be any text. They are escaped and cut after 200 bytes.
  void Add(const std::vector<std::pair<std::string_view, std::string>>& labels,
           std::uint64_t value);

  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

}  // namespace ringlet::cli
