// The text of `--help`: options with what they take, in lines that fit the terminal.
#pragma once
#include <CLI/CLI.hpp>

#include <string>

namespace ringlet::cli {

class HelpFormatter final : public CLI::Formatter {
 public:
  /// \param columns  of a line
  explicit HelpFormatter(std::size_t columns) : columns_(columns) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;

 private:
  /// A name, and behind it or below it the text, in a column of its own.
  std::string Entry(const std::string& name, const std::string& text) const;

  std::size_t columns_;
};

/// Of the terminal, if standard output is one; at most kPageColumns.
std::size_t HelpColumns();

}  // namespace ringlet::cli
